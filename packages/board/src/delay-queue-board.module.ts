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
import { Board } from './board.js';
import { readVersion } from './config.js';
import { mountOnExpress } from './express.js';
import { mountOnFastify } from './fastify.js';
import { Guards } from './guards.js';
import { findInstances } from './instances.js';
import {
  type BoardOptions,
  type DelayQueueBoardAsyncOptions,
  type DelayQueueBoardOptions,
  invalidOption,
  readOptions,
} from './options.js';
import { packageFolder } from './package-folder.js';
import { Page } from './page.js';

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
  async onModuleDestroy(): Promise<void> {
    await this.board?.close();
  }

  async #create(): Promise<Board> {
    const { options } = this;
    const guards = await Guards.resolve(this.modules, options.guards);
    const instances = findInstances(this.container, options.instances);
    const page = new Page(join(packageFolder(), 'dist', 'page'));
    return new Board({ options, guards, instances, page, version: readVersion() });
  }
}
