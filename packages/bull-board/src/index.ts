export { addDelayQueues, type Board } from './add-delay-queues.js';
export { BoardError } from './board-error.js';
export { DelayQueueBoardAdapter } from './delay-queue-board.adapter.js';
export type { BoardAdapterOptions, BoardQueue, QueueHandle } from './board-queue.js';
