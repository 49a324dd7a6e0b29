import type { Attributes } from '@opentelemetry/api';
import type { DeathCause, DelayQueueEvent, DelayQueueEvents } from '../message/delay-queue-events.js';
import type { HandlingOutcome, OfferContext } from '../message/delay-queue-observer.js';
import type { DelayedMessage } from '../message/message.js';
import {
  addOperation,
  addOperationType,
  addType,
  DEATH_CAUSE,
  ERROR_TYPE,
  MIXED,
  OUTCOME,
  type QueueNames,
  WORK,
} from './attributes.js';
import { describeError, hasFailed } from './failures.js';
import { createInstruments, type Instruments } from './instruments.js';

const DEATH_CAUSES: readonly DeathCause[] = ['handler', 'reject', 'lease', 'unreadable', 'unknown-type', 'expired'];

/**
 * Measures offers, handlers and events. A method that starts a measurement returns a function that ends it. Each instrument gets an
 * attributes object of its own, because it keeps that object.
 */
export class MessageMetrics {
  #made: Instruments | undefined;

  constructor(private readonly names: QueueNames) {}

  /** @returns a function that ends the measurement; it takes the error, if any */
  offer({ queue, messages }: OfferContext): (failure?: { readonly error: unknown }) => void {
    const from = performance.now();
    return (failure) => {
      const ofFailure = (attributes: Attributes) => (failure ? addError(attributes, failure.error) : attributes);
      const { sent, offering } = this.#instruments;
      sent.add(messages.length, ofFailure(addOperation(this.names.ofMetric(queue), 'offer')));
      offering.record(secondsSince(from), ofFailure(addOperationType(this.names.ofMetric(queue), 'offer')));
    };
  }

  handle(message: DelayedMessage): (outcome: HandlingOutcome) => void {
    const from = performance.now();
    this.#begin(message);
    return (outcome) => {
      const { consumed, processing } = this.#instruments;
      consumed.add(1, this.#ofEnd(message, outcome));
      processing.record(secondsSince(from), addOperationType(this.#ofEnd(message, outcome), 'process'));
    };
  }

  handleBatch(messages: readonly DelayedMessage[]): (outcomes: readonly HandlingOutcome[]) => void {
    const from = performance.now();
    for (const message of messages) this.#begin(message);
    return (outcomes) => {
      for (const [i, message] of messages.entries()) {
        this.#instruments.consumed.add(1, this.#ofEnd(message, outcomes[i]!));
      }
      const { queue } = messages[0]!;
      const attributes = addEndOfAll(addOperationType(this.names.ofMetric(queue), 'process'), outcomes);
      this.#instruments.processing.record(secondsSince(from), attributes);
    };
  }

  event(event: DelayQueueEvent): void {
    switch (event.name) {
      case 'handler-started':
        return this.#startAtZero(event.queue);
      case 'transferred':
        return this.#instruments.transferred.add(event.count, this.names.ofMetric(event.queue));
      case 'dead':
        return this.#instruments.died.add(1, this.#ofDeath(event.queue, event.by));
      case 'expired':
        return this.#instruments.expired.add(1, addType(this.names.ofMetric(event.queue), event.type));
      case 'dead-letters-dropped':
        return this.#instruments.dropped.add(event.count, this.names.ofMetric(event.queue));
      case 'lease-lost':
        return this.#instruments.leasesLost.add(1, this.names.ofMetric(event.queue));
      case 'leases-expired':
        return this.#instruments.leasesExpired.add(
          event.recovered + event.deadLettered,
          this.names.ofMetric(event.queue),
        );
      case 'work-failing':
        return this.#instruments.workFailures.add(1, this.#ofWork(event));
    }
  }

  /** Creates the instruments at the first measurement, because a meter requested before the SDK has started never measures anything. */
  get #instruments(): Instruments {
    return (this.#made ??= createInstruments());
  }

  #begin({ queue, type, lateness }: DelayedMessage): void {
    this.#instruments.lateness.record(lateness / 1000, addType(this.names.ofMetric(queue), type));
  }

  #ofEnd({ queue, type }: DelayedMessage, outcome: HandlingOutcome): Attributes {
    return addEnd(addType(addOperation(this.names.ofMetric(queue), 'process'), type), outcome);
  }

  /** Starts counters at zero. If a counter first appears with its first event, Prometheus sees no increase, so no alert fires. */
  #startAtZero(queue: string): void {
    if (!this.names.isKnown(queue)) return;
    const { died, dropped, leasesLost, leasesExpired, expired } = this.#instruments;
    for (const cause of DEATH_CAUSES) died.add(0, this.#ofDeath(queue, cause));
    for (const counter of [dropped, leasesLost, leasesExpired, expired]) counter.add(0, this.names.ofMetric(queue));
  }

  #ofDeath(queue: string, cause: DeathCause): Attributes {
    return { ...this.names.ofMetric(queue), [DEATH_CAUSE]: cause };
  }

  #ofWork({ queue, work }: DelayQueueEvents['work-failing']): Attributes {
    const attributes = queue === undefined ? this.names.ofNoQueue() : this.names.ofMetric(queue);
    return { ...attributes, [WORK]: work };
  }
}

function secondsSince(from: number): number {
  return (performance.now() - from) / 1000;
}

function addEnd(attributes: Attributes, outcome: HandlingOutcome): Attributes {
  attributes[OUTCOME] = outcome.kind;
  return hasFailed(outcome) ? addError(attributes, outcome.error) : attributes;
}

function addError(attributes: Attributes, error: unknown): Attributes {
  attributes[ERROR_TYPE] = describeError(error).name;
  return attributes;
}

function addEndOfAll(attributes: Attributes, outcomes: readonly HandlingOutcome[]): Attributes {
  const first = outcomes.find(hasFailed) ?? outcomes[0]!;
  const isSame = outcomes.every(({ kind }) => kind === first.kind);
  return Object.assign(addEnd(attributes, first), !isSame && { [OUTCOME]: MIXED });
}
