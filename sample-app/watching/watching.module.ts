import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { DelayQueueBoardModule } from 'nestjs-delay-queue-board';
import { DelayQueueHealthIndicator } from 'nestjs-delay-queue/terminus';
import { EveryoneGuard } from './everyone.guard.js';
import { HealthController } from './health.controller.js';
import { MetricsController } from './metrics.controller.js';

/** What those who run the shop look at: its health, for a load balancer, its metrics, for Prometheus, and the board, for themselves. */
@Module({
  imports: [TerminusModule, DelayQueueBoardModule.forRoot({ path: '/board', guards: [EveryoneGuard] })],
  controllers: [HealthController, MetricsController],
  providers: [DelayQueueHealthIndicator],
})
export class WatchingModule {}
