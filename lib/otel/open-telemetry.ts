import { z } from 'zod/mini';
import type { DelayQueueObserver } from '../message/delay-queue-observer.js';
import { QUEUE_FAMILY, QUEUE_OR_FAMILY_RULE } from '../message/queue-name.js';
import { check, mustBe } from '../options/check.js';
import { QueueNames } from './attributes.js';
import { MessageMetrics } from './message-metrics.js';
import { MessageSpans } from './message-spans.js';
import { OpenTelemetryObserver } from './open-telemetry-observer.js';

/** The options of {@link openTelemetry}. */
export interface OpenTelemetryOptions {
  /**
   * The trace of an attempt's span. `'link'`: the span gets its own trace and links to the offer's span. `'parent'`: it is a child of the
   * offer's span. `'none'`: there are no spans, only metrics. Default: `'link'`.
   */
  readonly traces?: 'link' | 'parent' | 'none' | undefined;
  /**
   * Families of queues, such as `tenant-*`. Metrics and span names show the family instead of the queue, because thousands of queues would
   * create thousands of series. Default: `[]`.
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
 * Creates an observer that traces and measures according to OpenTelemetry's messaging conventions, which are still in development. It uses
 * the SDK that the application registers, no matter when, and does nothing without one.
 *
 * The header `traceparent` connects an offer's span with those of the message's attempts, unless the user has set it. The header `baggage`
 * carries the baggage to the handler. A layout without headers carries neither. The attribute `delay_queue.instance` contains the name of
 * the module's instance, if it has one.
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
