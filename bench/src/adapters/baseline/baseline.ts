import type { Adapter } from '../adapter.js';
import { startConsumer } from './baseline.consumer.js';
import { openProducer } from './baseline.producer.js';

/**
 * The baseline does the same work (delayed, ready, active under a lease, gone) as bare scripts through ioredis. It has
 * nothing that makes a queue reliable. What a system costs beyond it is the price of its features.
 */
export const adapter: Adapter = { openProducer, startConsumer };
