import {
  type Attributes,
  type BatchObservableResult,
  diag,
  type Meter,
  metrics,
  type Observable,
} from '@opentelemetry/api';
import type { INestApplicationContext } from '@nestjs/common';
import { hasCode, showFailure } from '../message/failure.js';
import type { MessageState } from '../message/message.js';
import { check } from '../options/check.js';
import type { InstanceOptions } from '../options/queue-options.js';
import { instanceSchema } from '../options/queue-options-schema.js';
import { UNNAMED } from '../message/instance-name.js';
import { findInstance } from '../runtime/instance.js';
import { overdueOf, type QueueStatus } from '../store/admin-store.js';
import { QueueNames, SCOPE, STATE } from './attributes.js';

interface Gauges {
  readonly messages: Observable;
  readonly overdue: Observable;
  readonly paused: Observable;
}

/**
 * Measures the state of queues whenever metrics are collected: how many messages are in each state, how long the oldest due one has waited,
 * and whether the queue is paused. All processes would measure the same state, so call this in one process only, after the SDK has started.
 * Measuring a queue costs one call.
 *
 * Stops when the application closes. Reports a queue that cannot be measured to OpenTelemetry's `diag`.
 * @param app - the application, or a `ModuleRef`
 * @param options - `instance`: the name of the queues' instance
 * @returns a function that stops the measurements earlier
 * @throws DelayQueueError `INVALID_ARGUMENT` for a malformed name, `INVALID_OPTION` if there is no such instance
 * @example
 * ```ts
 * observeQueues(app, ['orders', 'reminders']);
 * ```
 */
export function observeQueues(
  app: Pick<INestApplicationContext, 'get'>,
  queues: readonly string[],
  options: InstanceOptions = {},
): () => void {
  const { instance } = check(instanceSchema, options, 'observeQueues()');
  const { queues: known } = findInstance(app, instance ?? UNNAMED);
  const stores = queues.map((name) => ({ name, store: known.named(name).store }));
  const names = new QueueNames([], instance);
  const meter = metrics.getMeter(SCOPE);
  const gauges = createGauges(meter);
  const observed = Object.values(gauges) as Observable[];
  const observe = async (result: BatchObservableResult): Promise<void> => {
    const looks = stores.map(async ({ name, store }) => {
      try {
        report(result, gauges, { attributes: names.ofMetric(name), status: await store.status() });
      } catch (error) {
        if (hasCode(error, 'CLOSED')) end();
        else diag.error(`${SCOPE}: the state of queue ${name} cannot be measured: ${showFailure(error)}`);
      }
    });
    await Promise.all(looks);
  };
  const end = () => meter.removeBatchObservableCallback(observe, observed);
  meter.addBatchObservableCallback(observe, observed);
  return end;
}

function createGauges(meter: Meter): Gauges {
  const gauge = (name: string, unit: string, description: string) =>
    meter.createObservableGauge(`delay_queue.queue.${name}`, { unit, description });
  return {
    messages: gauge('messages', '{message}', 'Messages of a queue, by state.'),
    overdue: gauge('overdue', 's', 'How long the oldest due message has waited for a handler.'),
    paused: gauge('paused', '1', 'Whether the queue is paused: 1 or 0.'),
  };
}

function report(
  result: BatchObservableResult,
  gauges: Gauges,
  { attributes, status }: { readonly attributes: Attributes; readonly status: QueueStatus },
): void {
  for (const state of Object.keys(status.counts) as MessageState[]) {
    result.observe(gauges.messages, status.counts[state], { ...attributes, [STATE]: state });
  }
  result.observe(gauges.overdue, overdueOf(status) / 1000, attributes);
  result.observe(gauges.paused, status.paused ? 1 : 0, attributes);
}
