export { type BoardFeature, DelayQueueBoardModule } from './delay-queue-board.module.js';
