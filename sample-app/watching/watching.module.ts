import { BullBoardModule } from '@bull-board/nestjs';
import { ExpressAdapter } from '@bull-board/express';
import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { DelayQueueBoardModule } from 'nestjs-delay-queue-bull-board/nestjs';
import { DelayQueueHealthIndicator } from 'nestjs-delay-queue/terminus';
import { boardPolicy } from './board-policy.js';
import { HealthController } from './health.controller.js';
import { MetricsController } from './metrics.controller.js';
import { WATCHED_QUEUES } from './watched-queues.js';

/**
 * What those who run the shop look at: its health, for a load balancer, its metrics, for Prometheus, and the board, for
 * themselves. Everybody who may open the shop may use its board: a real one belongs behind a login.
 */
@Module({
  imports: [
    TerminusModule,
    BullBoardModule.forRoot({
      route: '/board',
      adapter: ExpressAdapter,
      middleware: boardPolicy,
      boardOptions: { uiConfig: { boardTitle: 'Delay queues', hideRedisDetails: true } },
    }),
    DelayQueueBoardModule.forFeature(...WATCHED_QUEUES.map((queue) => ({ queue }))),
  ],
  controllers: [HealthController, MetricsController],
  providers: [DelayQueueHealthIndicator],
})
export class WatchingModule {}
