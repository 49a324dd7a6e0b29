import 'reflect-metadata';
import type { INestApplication, NestApplicationOptions, Type, ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { DelayQueueProducer } from 'nestjs-delay-queue';
import { type DelayQueueBoardOptions, DelayQueueBoardModule } from 'nestjs-delay-queue-board';
import { PageClient } from './page-client.js';

export type Framework = 'Express' | 'Fastify';

export const FRAMEWORKS: readonly Framework[] = ['Express', 'Fastify'];

export interface PageApplicationSettings {
  readonly framework?: Framework;
  readonly parts?: ModuleMetadata;
  readonly board?: DelayQueueBoardOptions & Pick<ModuleMetadata, 'imports'>;
  readonly create?: NestApplicationOptions;
  /** True: the framework takes the host and protocol of a request from what a proxy says. */
  readonly trustsProxy?: boolean;
  /** What `main.ts` does before the application listens. */
  readonly prepare?: (app: INestApplication) => unknown;
}

/** An application with a board, in this process. */
export interface PageApplication {
  readonly app: INestApplication;
  readonly board: PageClient;
  readonly producer: DelayQueueProducer;
  /** Lines of its log. */
  readonly log: readonly string[];
  get<T>(type: Type<T>): T;
  close(): Promise<void>;
}

class AppModule {}

export async function startPageApplication({
  framework = 'Express',
  parts = {},
  board = {},
  create,
  trustsProxy = false,
  prepare,
}: PageApplicationSettings): Promise<PageApplication> {
  const imports = [...(parts.imports ?? []), DelayQueueBoardModule.forRoot(board)];
  const root = { module: AppModule, ...parts, imports };
  const log: string[] = [];
  const add = (message: unknown, ...more: unknown[]) => void log.push([message, ...more].map(String).join(' '));
  const logger = { log: add, warn: add, error: add };
  const options = { logger, abortOnError: false, ...create };
  const app: INestApplication =
    framework === 'Fastify'
      ? await NestFactory.create(root, new FastifyAdapter({ trustProxy: trustsProxy }), options)
      : await NestFactory.create(root, options);
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= app.close());
  try {
    if (framework === 'Express' && trustsProxy) (app as NestExpressApplication).set('trust proxy', true);
    await prepare?.(app);
    await app.listen(0, '127.0.0.1');
  } catch (error) {
    await close();
    throw error;
  }
  const url = `${await app.getUrl()}${board.path ?? '/delay-queues'}`;
  return {
    app,
    board: new PageClient(url),
    producer: app.get(DelayQueueProducer),
    log,
    get: (type) => app.get(type),
    close,
  };
}
