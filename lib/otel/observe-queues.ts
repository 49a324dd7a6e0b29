import { type BatchObservableResult, diag, metrics, type Observable } from '@opentelemetry/api';
import { hasCode, showFailure } from '../message/failure.js';
import type { MessageCounts, MessageState } from '../message/message.js';
import { assertQueueName } from '../message/queue-name.js';
import { QUEUE, SCOPE, STATE } from './attributes.js';

/** Tells the state of queues; a `DelayQueueProducer` does. */
export interface QueueStates {
  /** How many messages of a queue are in each state. */
  counts(queue: string): Promise<MessageCounts>;
  /** When the next delayed message of a queue falls due; null if none is delayed. */
  nextDue(queue: string): Promise<Date | null>;
}

interface Gauges {
  readonly messages: Observable;
  readonly overdue: Observable;
}

/**
 * Measures the state of queues whenever metrics are collected: how many messages are in each state, and for how long the next one
 * has been due. Redis has one state for all processes, so call this in one process only, after the SDK has started.
 *
 * It ends when the application closes. A queue that cannot be looked at is reported to OpenTelemetry's `diag`.
 *
 * @param states - the producer
 * @returns what ends it earlier
 * @throws DelayQueueError `INVALID_ARGUMENT` for a malformed name
 *
 * @example
 * ```ts
 * observeQueues(app.get(DelayQueueProducer), ['orders', 'reminders']);
 * ```
 */
export function observeQueues(states: QueueStates, queues: readonly string[]): () => void {
  for (const queue of queues) assertQueueName(queue);
  const meter = metrics.getMeter(SCOPE);
  const gauges: Gauges = {
    messages: meter.createObservableGauge('delay_queue.queue.messages', {
      unit: '{message}',
      description: 'Messages of a queue, by state.',
    }),
    overdue: meter.createObservableGauge('delay_queue.queue.overdue', {
      unit: 's',
      description: 'For how long the next delayed message has been due; 0 while a process handles the queue.',
    }),
  };
  const observed = Object.values(gauges) as Observable[];
  const observe = async (result: BatchObservableResult): Promise<void> => {
    await Promise.all(queues.map((queue) => look(queue).catch(complain(queue))));
    async function look(queue: string): Promise<void> {
      const [counts, nextDue] = await Promise.all([states.counts(queue), states.nextDue(queue)]);
      report(result, gauges, { queue, counts, nextDue });
    }
  };
  const end = () => meter.removeBatchObservableCallback(observe, observed);
  const complain = (queue: string) => (error: unknown) => {
    if (hasCode(error, 'CLOSED')) end();
    else diag.error(`${SCOPE}: the state of queue ${queue} cannot be measured: ${showFailure(error)}`);
  };
  meter.addBatchObservableCallback(observe, observed);
  return end;
}

interface QueueState {
  readonly queue: string;
  readonly counts: MessageCounts;
  readonly nextDue: Date | null;
}

function report(result: BatchObservableResult, gauges: Gauges, { queue, counts, nextDue }: QueueState): void {
  const attributes = { [QUEUE]: queue };
  for (const state of Object.keys(counts) as MessageState[]) {
    result.observe(gauges.messages, counts[state], { ...attributes, [STATE]: state });
  }
  const overdue = nextDue === null ? 0 : Math.max(0, Date.now() - nextDue.getTime());
  result.observe(gauges.overdue, overdue / 1000, attributes);
}
