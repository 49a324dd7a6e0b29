/**
 * An application with a board and samples, to look at and to test the page. It prints the board's URL.
 *
 * `node --import @swc-node/register/esm-register test/support/board/board.program.ts [settings as JSON]`
 *
 * Without a `redis` in the settings, it starts a server for itself.
 */
import 'reflect-metadata';
import { type CanActivate, type ExecutionContext, Injectable, Module, UnauthorizedException } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { DelayQueueProducer, getDelayQueueProducerToken } from 'nestjs-delay-queue';
import { DelayQueueBoardModule } from 'nestjs-delay-queue-board';
import { randomName } from '../random-name.js';
import { startRedis } from '../redis/start-redis.js';
import { offerSamples, sampleQueues } from './sample-queues.js';

interface Settings {
  readonly redis?: string;
  readonly prefix?: string;
  readonly port?: number;
  readonly path?: string;
  readonly fastify?: boolean;
  readonly globalPrefix?: string;
  readonly readOnly?: boolean;
  /** Lets requests with the cookie `board=1` pass, and no others. */
  readonly guarded?: boolean;
  /** Shows no payload field named `email`. */
  readonly redacted?: boolean;
  /** False: the queues stay empty. */
  readonly samples?: boolean;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const server = settings.redis === undefined ? await startRedis() : undefined;

@Injectable()
class CookieGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<{ headers: { cookie?: string } }>();
    if (/(^|; )board=1(;|$)/.test(headers.cookie ?? '')) return true;
    throw new UnauthorizedException('Log in first.');
  }
}

const { imports = [], ...parts } = sampleQueues(settings.redis ?? server!.url, settings.prefix ?? randomName('board'));

@Module({
  imports: [
    ...imports,
    DelayQueueBoardModule.forRoot({
      path: settings.path ?? '/delay-queues',
      readOnly: settings.readOnly ?? false,
      guards: settings.guarded ? [CookieGuard] : [],
      who: () => 'ada',
      ...(settings.redacted && {
        show: ({ payload, headers }) => ({
          payload: JSON.parse(JSON.stringify(payload), (key, value: unknown) =>
            key === 'email' ? '…' : value,
          ) as unknown,
          headers,
        }),
      }),
    }),
  ],
  ...parts,
})
class AppModule {}

const app = await (settings.fastify
  ? NestFactory.create(AppModule, new FastifyAdapter())
  : NestFactory.create(AppModule));
app.enableShutdownHooks();
if (settings.globalPrefix !== undefined) app.setGlobalPrefix(settings.globalPrefix);
await app.listen(settings.port ?? 0, '127.0.0.1');
if (settings.samples !== false) {
  await offerSamples(app.get(DelayQueueProducer), app.get(getDelayQueueProducerToken('billing')));
}
console.log(`${await app.getUrl()}${settings.path ?? '/delay-queues'}`);
process.on('exit', () => void server?.stop());
