import type { Attributes } from '@opentelemetry/api';
import type { DelayQueueEvent } from '../events/delay-queue-events.js';
import type { DelayQueueObserver, HandlingOutcome, OfferContext } from '../events/delay-queue-observer.js';
import type { DelayedMessage, MessageHeaders } from '../message/message.js';
import {
  DEATH_CAUSE,
  ERROR_TYPE,
  MIXED,
  OFFER,
  ofType,
  OUTCOME,
  PROCESS,
  type QueueNames,
  SYSTEM,
  WORK,
} from './attributes.js';
import { describeError, hasFailed } from './failures.js';
import { createInstruments, type Instruments } from './instruments.js';
import { onceDone } from './once-done.js';

/** Measures offers, handlers and events. */
export class MetricsObserver implements DelayQueueObserver {
  #made: Instruments | undefined;

  constructor(private readonly names: QueueNames) {}

  async offer(
    { queue, messages }: OfferContext,
    next: (headers?: MessageHeaders) => Promise<unknown>,
  ): Promise<unknown> {
    const from = performance.now();
    const attributes: Attributes = { ...this.names.ofMetric(queue), ...OFFER };
    try {
      return await next();
    } catch (error) {
      attributes[ERROR_TYPE] = describeError(error).name;
      throw error;
    } finally {
      this.#instruments.sent.add(messages.length, attributes);
      this.#instruments.offering.record(secondsSince(from), attributes);
    }
  }

  handle(message: DelayedMessage, next: () => HandlingOutcome | Promise<HandlingOutcome>) {
    const from = performance.now();
    this.#begin(message);
    return onceDone(next(), (outcome) => {
      const attributes = { ...this.#ofMessage(message), ...endedBy(outcome) };
      this.#instruments.consumed.add(1, attributes);
      this.#instruments.processing.record(secondsSince(from), attributes);
    });
  }

  handleBatch(
    messages: readonly DelayedMessage[],
    next: () => readonly HandlingOutcome[] | Promise<readonly HandlingOutcome[]>,
  ) {
    const from = performance.now();
    for (const message of messages) this.#begin(message);
    return onceDone(next(), (outcomes) => {
      for (const [i, message] of messages.entries()) {
        this.#instruments.consumed.add(1, { ...this.#ofMessage(message), ...endedBy(outcomes[i]!) });
      }
      const { queue } = messages[0]!;
      const attributes = { ...this.names.ofMetric(queue), ...PROCESS, ...endedByAll(outcomes) };
      this.#instruments.processing.record(secondsSince(from), attributes);
    });
  }

  event(event: DelayQueueEvent): void {
    switch (event.name) {
      case 'transferred':
        return this.#instruments.transferred.add(event.count, this.names.ofMetric(event.queue));
      case 'dead':
        return this.#instruments.died.add(1, {
          ...this.names.ofMetric(event.queue),
          ...ofType(event.type),
          [DEATH_CAUSE]: event.by,
        });
      case 'dropped':
        return this.#instruments.dropped.add(event.count, this.names.ofMetric(event.queue));
      case 'lease-lost':
        return this.#instruments.leasesLost.add(1, this.names.ofMetric(event.queue));
      case 'taken-back':
        return this.#instruments.leasesExpired.add(event.recovered + event.buried, this.names.ofMetric(event.queue));
      case 'work-failing':
        return this.#instruments.workFailures.add(1, { ...this.#ofWork(event.queue), [WORK]: event.work });
    }
  }

  /** Made at the first measurement: a meter that is asked for before the SDK has started never measures anything. */
  get #instruments(): Instruments {
    return (this.#made ??= createInstruments());
  }

  #begin(message: DelayedMessage): void {
    this.#instruments.lateness.record(message.lateness / 1000, this.#ofMessage(message));
  }

  #ofMessage({ queue, type }: DelayedMessage): Attributes {
    return { ...this.names.ofMetric(queue), ...PROCESS, ...ofType(type) };
  }

  #ofWork(queue: string | undefined): Attributes {
    return queue === undefined ? SYSTEM : this.names.ofMetric(queue);
  }
}

function secondsSince(from: number): number {
  return (performance.now() - from) / 1000;
}

function endedBy(outcome: HandlingOutcome): Attributes {
  if (!hasFailed(outcome)) return { [OUTCOME]: outcome.kind };
  return { [OUTCOME]: outcome.kind, [ERROR_TYPE]: describeError(outcome.error).name };
}

function endedByAll(outcomes: readonly HandlingOutcome[]): Attributes {
  const [first] = outcomes;
  const failed = outcomes.find(hasFailed);
  return {
    [OUTCOME]: first && outcomes.every(({ kind }) => kind === first.kind) ? first.kind : MIXED,
    ...(failed && { [ERROR_TYPE]: describeError(failed.error).name }),
  };
}
