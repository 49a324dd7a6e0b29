import type { Adapter } from '../adapter.js';
import { startConsumer } from './floor.consumer.js';
import { openProducer } from './floor.producer.js';

/**
 * The floor does the same work (delayed, ready, active under a lease, gone) as bare scripts through ioredis. It has
 * nothing that makes a queue reliable. What a system costs beyond it is the price of its features.
 */
export const adapter: Adapter = { openProducer, startConsumer };
