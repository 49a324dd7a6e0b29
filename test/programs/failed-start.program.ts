/** An application that starts, or fails to, in a process of its own: it tells what keeps the process alive afterwards. */
import 'reflect-metadata';
import { Injectable, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DelayedHandler, DelayQueueModule, type DelayQueueModuleOptions, DelayQueueProducer } from '../../lib/index.js';

export interface StartSettings {
  readonly module: DelayQueueModuleOptions;
  readonly queue: string;
  readonly how: 'context' | 'http';
  /** The hook that fails, and how long it takes to, ms; undefined: none. */
  readonly failing?: { readonly hook: 'onModuleInit' | 'onApplicationBootstrap'; readonly after: number } | undefined;
  /** True if the hook or the started application offers a message first. */
  readonly offers: boolean;
  readonly handles: boolean;
}

export interface StartReport {
  /** The reason why it has not started, if so. */
  readonly failure?: string;
  /** The time for which the process has lived after that, ms. */
  readonly lived: number;
  /** The resources that have kept it alive for too long, if any. */
  readonly resources?: readonly string[];
}

/** The maximum life of a process whose start has failed, ms; one that has started is watched for a part of that. */
const MAX_LIFE = 8000;
const WATCHED = 1500;

const { module, queue, how, failing, offers, handles } = JSON.parse(process.argv[2] ?? '') as StartSettings;

@Injectable()
class Failing {
  constructor(private readonly producer: DelayQueueProducer) {}

  async fail(): Promise<void> {
    if (offers) await this.producer.offer(queue, 'one', '1h').catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, failing!.after));
    throw new Error('startup fails');
  }
}

@Injectable()
class Handlers {
  @DelayedHandler(queue)
  handle(): void {}
}

if (failing) Object.assign(Failing.prototype, { [failing.hook]: (Failing.prototype as { fail: unknown }).fail });

@Module({ providers: failing ? [Failing] : [] })
class OtherModule {}

const providers: Type[] = handles ? [Handlers] : [];

@Module({ imports: [DelayQueueModule.forRoot(module), OtherModule], providers })
class AppModule {}

async function start() {
  const logger = ['fatal' as const];
  if (how === 'context') return NestFactory.createApplicationContext(AppModule, { logger, abortOnError: false });
  const app = await NestFactory.create(AppModule, { logger, abortOnError: false });
  return app.init();
}

let failure: string | undefined;
const app = await start().catch((error: Error) => void (failure = error.message));
if (app && offers) await app.get(DelayQueueProducer).offer(queue, 'one', '1h');
const from = performance.now();
let resources: readonly string[] | undefined;
process.on('exit', () => console.log(JSON.stringify({ failure, lived: performance.now() - from, resources })));
// It fires only if something else keeps the process alive.
setTimeout(
  () => {
    resources = process.getActiveResourcesInfo().filter((kind) => kind !== 'PipeWrap');
    process.exit();
  },
  app ? WATCHED : MAX_LIFE,
).unref();
