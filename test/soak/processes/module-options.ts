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
    ...(soak.groups > 0 && { groups: { concurrency: permitsOf(soak), onRetry: 'hold' } }),
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
