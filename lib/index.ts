export { DelayQueueError, type DelayQueueErrorCode } from './delay-queue.errors.js';
