import type { DelayQueueModuleOptions, QueueOptions } from '../../../lib/index.js';
import { BLOCK_TIMEOUT, OFFER_TIMEOUT, type QueueName, QUEUES } from '../workload/message-plan.js';
import type { ProcessSettings } from './process-settings.js';

/** The additional options of Redisson's layout. */
const REDISSON: Readonly<Record<QueueName, QueueOptions>> = {
  orders: { ...QUEUES.orders, layout: 'redisson', codec: 'json' },
  mails: { ...QUEUES.mails, layout: 'redisson', codec: 'string' },
  images: { ...QUEUES.images, layout: 'redisson', codec: 'buffer' },
};

export function moduleOptions({
  soak,
  redisUrl,
  prefix,
}: Pick<ProcessSettings, 'soak' | 'redisUrl' | 'prefix'>): DelayQueueModuleOptions {
  return {
    connection: redisUrl,
    prefix,
    queues: soak.layout === 'redisson' ? REDISSON : QUEUES,
    // Sets how soon a subscriber on a dark connection notices.
    defaults: { blockTimeout: BLOCK_TIMEOUT },
    offerTimeout: OFFER_TIMEOUT,
    shutdownTimeout: '5s',
  };
}
