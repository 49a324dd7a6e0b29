export { DelayQueueBoardModule } from './delay-queue-board.module.js';
export { DelayQueueBoard } from './guards.js';
export type { BoardChange, DelayQueueBoardAsyncOptions, DelayQueueBoardOptions, ShownMessage } from './options.js';
export type * from './api.js';
