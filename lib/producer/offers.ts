import { Inject, Injectable } from '@nestjs/common';
import { AgainAdvice } from '../handler/again-advice.js';
import { MessageIdGenerator } from '../message/message-id.js';
import { QueueRegistrar } from '../runtime/queue-registrar.js';
import { Queues } from '../runtime/queues.js';
import { type OfferContext, OfferWriter } from './offer.writer.js';

/** The writers of this process, which the producer and the typed queues share: so offers of one turn leave in one call. */
@Injectable()
export class Offers {
  @Inject() private readonly queues!: Queues;
  @Inject() private readonly advice!: AgainAdvice;
  @Inject() private readonly registrar!: QueueRegistrar;

  readonly #context: OfferContext = {
    ids: new MessageIdGenerator(),
    busy: new Map(),
    register: (queue) => this.registrar.register(queue),
    onKept: (queue, id) => this.advice.onKept(queue, id),
  };

  /**
   * The writer of a queue.
   *
   * @throws DelayQueueError `INVALID_ARGUMENT` if that is no name of a queue
   */
  writerOf(queue: string): OfferWriter {
    return this.#context.busy.get(queue) ?? new OfferWriter(this.queues.named(queue), this.#context);
  }

  /** Checked again once an offer is prepared: the payload's own code, such as its `toJSON`, may have offered meanwhile. */
  current(writer: OfferWriter): OfferWriter {
    return this.#context.busy.get(writer.queue.name) ?? writer;
  }
}
