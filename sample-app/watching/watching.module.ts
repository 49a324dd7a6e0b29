import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { DelayQueueHealthIndicator } from 'nestjs-delay-queue/terminus';
import { HealthController } from './health.controller.js';
import { MetricsController } from './metrics.controller.js';

/** What those who run the shop look at: its health, for a load balancer, and its metrics, for Prometheus. */
@Module({
  imports: [TerminusModule],
  controllers: [HealthController, MetricsController],
  providers: [DelayQueueHealthIndicator],
})
export class WatchingModule {}
