import type { DelayQueueModuleOptions } from '../../../lib/index.js';
import { BLOCK_TIMEOUT, OFFER_TIMEOUT, QUEUES } from '../workload/message-plan.js';
import type { ProcessSettings } from './process-settings.js';

export function moduleOptions({
  redisUrl,
  prefix,
}: Pick<ProcessSettings, 'redisUrl' | 'prefix'>): DelayQueueModuleOptions {
  return {
    connection: redisUrl,
    prefix,
    queues: QUEUES,
    // How soon a subscriber that went dark is noticed.
    defaults: { blockTimeout: BLOCK_TIMEOUT },
    offerTimeout: OFFER_TIMEOUT,
    shutdownTimeout: '5s',
  };
}
