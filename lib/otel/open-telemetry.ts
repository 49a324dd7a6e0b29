import { z } from 'zod/mini';
import type { DelayQueueObserver } from '../events/delay-queue-observer.js';
import { QUEUE_FAMILY, QUEUE_OR_FAMILY_RULE } from '../message/queue-name.js';
import { check } from '../options/check.js';
import { mustBe } from '../options/values-schema.js';
import { QueueNames } from './attributes.js';
import { MessageMetrics } from './message-metrics.js';
import { MessageSpans } from './message-spans.js';
import { OpenTelemetryObserver } from './open-telemetry-observer.js';

/** The options of {@link openTelemetry}. */
export interface OpenTelemetryOptions {
  /**
   * The trace of an attempt's span: `'link'` gives the span its own trace, which links to the offer's span, `'parent'` makes it a child of
   * the offer's span, `'none'` makes no spans, only metrics. Default: `'link'`.
   */
  readonly traces?: 'link' | 'parent' | 'none' | undefined;
  /**
   * Families of queues, such as `tenant-*`. Metrics and span names show the family instead of the queue, so that thousands of queues do not
   * make thousands of series. Default: `[]`.
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
 * Makes an observer that traces and measures by OpenTelemetry's conventions for messaging, which are still in development. It uses the SDK
 * that the application has registered, no matter when, and does nothing without one.
 *
 * The header `traceparent` connects the span of an offer with those of its message's attempts, unless the user has set it; the header
 * `baggage` takes the baggage to the handler. A layout without headers carries neither. The attribute `delay_queue.instance` names the
 * module's instance, if it has a name.
 * @throws DelayQueueError `INVALID_OPTION`
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
