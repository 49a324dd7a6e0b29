import { context } from '@opentelemetry/api';
import type { DelayQueueEvent } from '../message/delay-queue-events.js';
import type { DelayQueueObserver, HandlingOutcome, OfferContext } from '../message/delay-queue-observer.js';
import type { DelayedMessage, MessageHeaders } from '../message/message.js';
import type { MessageMetrics } from './message-metrics.js';
import type { BegunSpan, MessageSpans } from './message-spans.js';

/** Measures offers and handlers, and also traces them if spans are wanted. */
export class OpenTelemetryObserver implements DelayQueueObserver {
  constructor(
    private readonly metrics: MessageMetrics,
    private readonly spans: MessageSpans | undefined,
    readonly forInstance: (name: string) => DelayQueueObserver,
  ) {}

  async offer(offers: OfferContext, next: (headers?: MessageHeaders) => Promise<unknown>): Promise<void> {
    const endMeasurement = this.metrics.offer(offers);
    const span = this.spans?.offer(offers);
    let failure: { readonly error: unknown } | undefined;
    try {
      await (span ? context.with(span.context, () => next(span.headers)) : next());
    } catch (error) {
      failure = { error };
    }
    span?.end(failure);
    endMeasurement(failure);
  }

  handle(message: DelayedMessage, next: () => HandlingOutcome | Promise<HandlingOutcome>): void | Promise<void> {
    return around(this.spans?.handle(message), this.metrics.handle(message), next);
  }

  handleBatch(
    messages: readonly DelayedMessage[],
    next: () => readonly HandlingOutcome[] | Promise<readonly HandlingOutcome[]>,
  ): void | Promise<void> {
    return around(this.spans?.handleBatch(messages), this.metrics.handleBatch(messages), next);
  }

  event(event: DelayQueueEvent): void {
    this.metrics.event(event);
  }
}

/** Ends the span and the measurement when the handler is done, and synchronously if the handler is synchronous. */
function around<Result>(
  span: BegunSpan<Result> | undefined,
  endMeasurement: (result: Result) => void,
  next: () => Result | Promise<Result>,
): void | Promise<void> {
  const end = (result: Result) => {
    span?.end(result);
    endMeasurement(result);
  };
  const result = span ? context.with(span.context, next) : next();
  return result instanceof Promise ? result.then(end) : end(result);
}
