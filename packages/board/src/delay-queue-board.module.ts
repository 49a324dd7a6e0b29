import { join } from 'node:path';
import {
  type DynamicModule,
  Inject,
  Logger,
  type MiddlewareConsumer,
  Module,
  type ModuleMetadata,
  type NestModule,
  type OnModuleDestroy,
} from '@nestjs/common';
import { HttpAdapterHost, ModuleRef, ModulesContainer } from '@nestjs/core';
import { Audit } from './audit.js';
import { Board } from './board.js';
import { readVersion } from './config.js';
import { mountOnExpress } from './express.js';
import { mountOnFastify } from './fastify.js';
import { Guards } from './guards.js';
import { findInstances } from './instances.js';
import { MessageApi } from './message-api.js';
import { MessageViews } from './message-views.js';
import {
  type BoardOptions,
  type DelayQueueBoardAsyncOptions,
  type DelayQueueBoardOptions,
  invalidOption,
  readOptions,
} from './options.js';
import { packageFolder } from './package-folder.js';
import { Page } from './page.js';
import { getQueue, listQueues } from './queue-api.js';
import type { Route } from './routes.js';

const OPTIONS = Symbol('options of the board');

/**
 * The board of an application's delay queues: a page and its API, beside the application's own routes.
 * @example
 * ```ts
 * @Module({ imports: [DelayQueueModule.forRoot(), DelayQueueBoardModule.forRoot({ path: '/delay-queues', guards: [AdminGuard] })] })
 * class AppModule {}
 * ```
 */
@Module({})
export class DelayQueueBoardModule implements NestModule, OnModuleDestroy {
  @Inject(OPTIONS) private readonly options!: BoardOptions;
  @Inject() private readonly host!: HttpAdapterHost;
  @Inject() private readonly modules!: ModuleRef;
  @Inject() private readonly container!: ModulesContainer;
  private board: Board | undefined;

  /**
   * Mounts the board.
   * @param options - all optional, but without `guards` the board serves this machine only. `imports`: modules with what the guards inject
   * @throws DelayQueueError `INVALID_OPTION` immediately, naming the field and the fix
   */
  static forRoot({
    imports,
    ...options
  }: DelayQueueBoardOptions & Pick<ModuleMetadata, 'imports'> = {}): DynamicModule {
    const useValue = readOptions('forRoot()', options);
    return { module: DelayQueueBoardModule, imports: imports ?? [], providers: [{ provide: OPTIONS, useValue }] };
  }

  /**
   * Mounts the board with options that come from other providers.
   * @throws DelayQueueError `INVALID_OPTION` at startup, naming the field and the fix
   */
  static forRootAsync({ imports, inject, useFactory }: DelayQueueBoardAsyncOptions): DynamicModule {
    if (typeof useFactory !== 'function') throw invalidOption('forRootAsync()', 'needs useFactory');
    const options = {
      provide: OPTIONS,
      inject: inject ?? [],
      useFactory: async (...args: unknown[]) => readOptions('forRootAsync()', await useFactory(...args)),
    };
    return { module: DelayQueueBoardModule, imports: imports ?? [], providers: [options] };
  }

  /** Called by Nest, after the application has added its own middleware, and before the routes. */
  async configure(_: MiddlewareConsumer): Promise<void> {
    const { httpAdapter } = this.host;
    // An application without a web server, such as a worker.
    if (!httpAdapter) return;
    const { path } = this.options;
    const board = await this.#create();
    this.board = board;
    const mount = httpAdapter.getType() === 'fastify' ? mountOnFastify : mountOnExpress;
    mount(httpAdapter, path, (exchange, failure) => board.serve(exchange, failure));
    const logger = new Logger('DelayQueueBoard');
    logger.log(`The board is at ${path}`);
    if (this.options.guards.length > 0) return;
    logger.warn('The board has no guards: it serves requests from this machine only. Give forRoot() `guards`.');
  }

  /** Called by Nest. */
  onModuleDestroy(): void {
    this.board?.close();
  }

  async #create(): Promise<Board> {
    const { options } = this;
    const guards = await Guards.resolve(this.modules, options.guards);
    const instances = findInstances(this.container, options.instances);
    const page = new Page(join(packageFolder(), 'dist', 'page'));
    const audit = new Audit(options);
    const messages = new MessageApi(new MessageViews(options.show), audit, options.show !== undefined);
    const queue = '/i/:instance/queues/:queue';
    const routes: Route[] = [
      { method: 'GET', path: '/config', kind: 'read', handle: ({ exchange }) => board.config(exchange) },
      { method: 'GET', path: '/i/:instance/queues', kind: 'read', handle: listQueues },
      { method: 'GET', path: queue, kind: 'read', handle: getQueue },
      { method: 'GET', path: `${queue}/messages`, kind: 'read', handle: (call) => messages.list(call) },
      { method: 'GET', path: `${queue}/messages/:id`, kind: 'read', handle: (call) => messages.get(call) },
      ...(['deliver', 'reschedule', 'change', 'cancel', 'abort', 'redrive', 'discard'] as const).map(
        (action): Route => ({
          method: 'POST',
          path: `${queue}/messages/:id/${action}`,
          kind: 'change',
          handle: messages.act(action),
        }),
      ),
      ...(['pause', 'resume'] as const).map((action): Route => ({
        method: 'POST',
        path: `${queue}/${action}`,
        kind: 'change',
        handle: async (call) => {
          await audit.one(call, { action }, async () => {
            await call.instance.producer[action](call.params.queue!);
            return 0;
          });
          return { ok: true };
        },
      })),
    ];
    const board = new Board({ options, guards, instances, page, version: readVersion(), routes });
    return board;
  }
}
