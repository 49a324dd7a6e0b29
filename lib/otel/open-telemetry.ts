import { z } from 'zod/mini';
import type { DelayQueueObserver } from '../events/delay-queue-observer.js';
import { QUEUE_FAMILY, QUEUE_OR_FAMILY_RULE } from '../message/queue-family.js';
import { check } from '../options/check.js';
import { mustBe } from '../options/values-schema.js';
import { QueueNames } from './attributes.js';
import { MessageMetrics } from './message-metrics.js';
import { MessageSpans } from './message-spans.js';
import { OpenTelemetryObserver } from './open-telemetry-observer.js';

/** The options of {@link openTelemetry}. */
export interface OpenTelemetryOptions {
  /**
   * Where the span of an attempt belongs: `'link'` gives it a trace of its own that links to the span of the offer, `'parent'` makes
   * it a child of that span, and `'none'` makes no spans, only metrics.
   *
   * @defaultValue `'link'`
   */
  readonly traces?: 'link' | 'parent' | 'none' | undefined;
  /**
   * Families of queues, such as `tenant-*`. Metrics and names of spans have the family instead of the queue, so that thousands of
   * queues do not make thousands of series.
   *
   * @defaultValue `[]`
   */
  readonly families?: readonly string[] | undefined;
}

const optionsSchema = z.strictObject({
  traces: z.prefault(z.enum(['link', 'parent', 'none'], mustBe("'link', 'parent' or 'none'")), 'link'),
  families: z.prefault(
    z.readonly(z.array(z.string().check(z.regex(QUEUE_FAMILY, { error: QUEUE_OR_FAMILY_RULE })))),
    [],
  ),
});

/**
 * Makes an observer that traces and measures with OpenTelemetry, by its conventions for messaging, which are still in development.
 * It uses the SDK that the application has registered, whenever that is, and without one it does nothing.
 *
 * The span of an offer and those of its message's attempts find each other by the header `traceparent`, unless the user has given
 * that one; the header `baggage` takes the baggage to the handler. Where the layout of a queue has no headers,
 * nothing travels with its messages. An instance of the module with a name is the attribute `delay_queue.instance`.
 *
 * @throws DelayQueueError `INVALID_OPTION`
 *
 * @example
 * ```ts
 * DelayQueueModule.forRoot({ observers: [openTelemetry()] });
 * ```
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): DelayQueueObserver {
  const { traces, families } = check(optionsSchema, options, 'openTelemetry()');
  const observe = (instance?: string) => {
    const names = new QueueNames(families, instance);
    const spans = traces === 'none' ? undefined : new MessageSpans(names, traces);
    return new OpenTelemetryObserver(new MessageMetrics(names), spans, observe);
  };
  return observe();
}
