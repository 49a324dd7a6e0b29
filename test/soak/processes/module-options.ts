import type { DelayQueueModuleOptions, QueueOptions } from '../../../lib/index.js';
import { redisson } from '../../../packages/redisson/src/index.js';
import { BLOCK_TIMEOUT, OFFER_TIMEOUT, QUEUE_NAMES, type QueueName, QUEUES } from '../workload/message-plan.js';
import type { ProcessSettings } from './process-settings.js';

/** The additional options of Redisson's layout. */
const REDISSON: Readonly<Record<QueueName, QueueOptions>> = {
  orders: { layout: redisson({ codec: 'json' }) },
  mails: { layout: redisson({ codec: 'string' }) },
  images: { layout: redisson({ codec: 'buffer' }) },
  payments: { layout: redisson({ codec: 'json' }) },
};

/** Limits that are reached now and then, and a history. A rate cannot be divided among partitions if there are groups. */
function limitsOf(queue: QueueName, { partitions, soak }: Pick<ProcessSettings, 'soak' | 'partitions'>): QueueOptions {
  if (queue === 'orders' && (partitions === 1 || soak.groups === 0)) return { rate: { max: 1500, per: '1s' } };
  if (queue === 'payments' && partitions === 1) return { globalConcurrency: 20 };
  return { history: { for: '10m', max: 5000, payloads: queue === 'mails' } };
}

const GROUP_RATE = { max: 20, per: '500ms' } as const;

function permitsOf({ groups, consumer }: ProcessSettings['soak']): number {
  return consumer === 'crowding' ? groups + 1 : groups;
}

export function moduleOptions({
  soak,
  connection,
  prefix,
  partitions,
}: Pick<ProcessSettings, 'soak' | 'connection' | 'prefix' | 'partitions'>): DelayQueueModuleOptions {
  const optionsOf = (queue: QueueName): QueueOptions => ({
    ...QUEUES[queue],
    ...(soak.layout === 'redisson' && REDISSON[queue]),
    ...(partitions > 1 && { partitions }),
    ...(soak.limits && limitsOf(queue, { partitions, soak })),
    ...(soak.groups > 0 && {
      groups: { concurrency: permitsOf(soak), onRetry: 'hold', ...(soak.limits && { rate: GROUP_RATE }) },
    }),
  });
  return {
    connection,
    prefix,
    queues: Object.fromEntries(QUEUE_NAMES.map((queue) => [queue, optionsOf(queue)])),
    // Sets how soon a subscriber on a dark connection notices.
    defaults: { blockTimeout: BLOCK_TIMEOUT },
    offerTimeout: OFFER_TIMEOUT,
    shutdownTimeout: '5s',
  };
}
