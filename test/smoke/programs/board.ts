// An application with a board, behind a global prefix. Its first argument is the framework that serves it: express or fastify.
import 'reflect-metadata';
import { type CanActivate, Controller, type ExecutionContext, Get, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { DelayQueueModule, DelayQueueProducer } from 'nestjs-delay-queue';
import { DelayQueueBoardModule } from 'nestjs-delay-queue-board';

const { REDIS_URL = '', QUEUE = '' } = process.env;

@Injectable()
class UserGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, string | undefined> }>();
    return headers['x-user'] === 'ada';
  }
}

@Controller('hello')
class HelloController {
  @Get()
  hello(): string {
    return 'Hello!';
  }
}

@Module({
  imports: [
    DelayQueueModule.forRoot({ connection: REDIS_URL }),
    DelayQueueBoardModule.forRoot({ guards: [UserGuard] }),
  ],
  controllers: [HelloController],
})
class AppModule {}

async function main(): Promise<void> {
  const options = { logger: ['error' as const] };
  const app =
    process.argv[2] === 'fastify'
      ? await NestFactory.create(AppModule, new FastifyAdapter(), options)
      : await NestFactory.create(AppModule, options);
  app.setGlobalPrefix('v1');
  await app.listen(0, '127.0.0.1');
  await app.get(DelayQueueProducer).offer(QUEUE, { n: 1 }, '1h', { id: 'a' });
  console.log(`Open ${await app.getUrl()}`);
}

void main();
