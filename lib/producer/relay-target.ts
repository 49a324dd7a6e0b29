import { Inject, Injectable } from '@nestjs/common';
import { dueAt } from '../message/due-time.js';
import { assertMessageId } from '../message/message-id.js';
import { type Duration, readDelay } from '../message/duration.js';
import type { ResolvedModuleOptions } from '../options/module-options-schema.js';
import type { Stores } from '../runtime/create-stores.js';
import { RESOLVED_OPTIONS, STORES } from '../runtime/delay-queue-tokens.js';
import type { MessageChange } from './changes.js';
import { inTime, type OfferOptions, type OfferResult, readOfferOptions } from './offer.js';
import { QueueParts } from './queue-methods.js';

/**
 * Calls for a relay that passes on recorded calls, such as nestjs-delay-queue-outbox: they take effect in time or never, and it can tell
 * which database they lead to.
 */
@Injectable()
export class RelayTarget {
  @Inject() private readonly parts!: QueueParts;
  @Inject(STORES) private readonly stores!: Stores;
  @Inject(RESOLVED_OPTIONS) private readonly options!: Pick<ResolvedModuleOptions, 'offerTimeout'>;

  /** The longest time that a call may take, ms. */
  get offerTimeout(): number {
    return this.options.offerTimeout;
  }

  /**
   * Reads the id of the database and prefix that the calls lead to. It is stored there, so it is the same by whatever address, and it is
   * lost with the data.
   * @param proposed - the id to set if there is none
   * @returns undefined if there is none
   */
  async id(proposed = ''): Promise<string | undefined> {
    return (await this.stores.directory.place(proposed)) || undefined;
  }

  /** The addresses of the servers as this process has them, each with database and prefix, in case there is no id. */
  addresses(): Promise<readonly string[]> {
    return this.stores.addresses();
  }

  /**
   * Makes calls that take effect before an instant or never. The server refuses them later, so this holds even if the process stalls in
   * between.
   * @param notAfter - instant of `performance.now()`
   */
  before(notAfter: number): RelayedCalls {
    const { offers, changes, queues } = this.parts;
    return {
      offer: async (queue, payload, delay, options) => {
        const due = { after: readDelay(delay) };
        return offers.offer(queues.named(queue), {
          payload,
          due,
          options: inTime(readOfferOptions(options), notAfter),
        });
      },
      offerAt: async (queue, payload, date, options) => {
        const due = dueAt(date);
        return offers.offer(queues.named(queue), {
          payload,
          due,
          options: inTime(readOfferOptions(options), notAfter),
        });
      },
      cancel: async (queue, id) => {
        const { router } = queues.named(queue);
        assertMessageId(id);
        return router.lookUp(id, { ask: (store) => store.cancel(id, notAfter), isFound: Boolean });
      },
      reschedule: async (queue, id, due, change) =>
        changes.reschedule(queues.named(queue), { id, due, change, notAfter }),
    };
  }
}

export interface RelayedCalls {
  offer(queue: string, payload: unknown, delay: Duration, options?: OfferOptions): Promise<OfferResult>;
  offerAt(queue: string, payload: unknown, date: Date, options?: OfferOptions): Promise<OfferResult>;
  cancel(queue: string, id: string): Promise<boolean>;
  reschedule(queue: string, id: string, due: Duration | Date, change?: MessageChange): Promise<boolean>;
}
