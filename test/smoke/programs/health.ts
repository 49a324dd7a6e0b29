// An application that Terminus asks about its queue. Nobody handles the queue, so what is due there waits.
import 'reflect-metadata';
import { Controller, Get, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { HealthCheck, type HealthCheckResult, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { DelayQueueModule, DelayQueueProducer } from 'nestjs-delay-queue';
import { DelayQueueHealthIndicator } from 'nestjs-delay-queue/terminus';

const { REDIS_URL = '', QUEUE = '' } = process.env;

@Controller()
class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly delayQueue: DelayQueueHealthIndicator,
    private readonly producer: DelayQueueProducer,
  ) {}

  @Get('health')
  @HealthCheck()
  check(): Promise<HealthCheckResult> {
    const options = { queues: [QUEUE], maxOverdue: 100, timeout: 300 };
    return this.health.check([() => this.delayQueue.check('delay-queue', options)]);
  }

  @Post('orders')
  async order(): Promise<void> {
    await this.producer.offer(QUEUE, {}, 0);
  }
}

@Module({
  imports: [DelayQueueModule.forRoot({ connection: REDIS_URL }), TerminusModule],
  controllers: [HealthController],
  providers: [DelayQueueHealthIndicator],
})
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error'] });
  await app.listen(0, '127.0.0.1');
  console.log(`Open ${await app.getUrl()}`);
}

void main();
