import { BULL_BOARD_INSTANCE, type BullBoardInstance } from '@bull-board/nestjs';
import { type DynamicModule, Inject, Module, type OnModuleInit, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { type DefinedBy, DelayQueueProducer } from 'nestjs-delay-queue';
import type { BoardAdapterOptions, QueueHandle } from '../board-queue.js';
import { DelayQueueBoardAdapter } from '../delay-queue-board.adapter.js';

/** A queue on the board. */
export interface BoardFeature {
  /** Its name, or the class of a typed queue. */
  readonly queue: string | (Type<QueueHandle> & DefinedBy<unknown>);
  /** Of bull-board: `readOnlyMode`, `displayName`, `description`… */
  readonly options?: BoardAdapterOptions | undefined;
}

const FEATURES = Symbol('features of the board');

/**
 * Adds queues to the board of `@bull-board/nestjs`.
 *
 * @example
 * ```ts
 * @Module({ imports: [DelayQueueBoardModule.forFeature({ queue: 'orders' })] })
 * class OrdersModule {}
 * ```
 */
@Module({})
export class DelayQueueBoardModule implements OnModuleInit {
  @Inject() private readonly modules!: ModuleRef;
  @Inject() private readonly producer!: DelayQueueProducer;
  @Inject(BULL_BOARD_INSTANCE) private readonly board!: BullBoardInstance;
  @Inject(FEATURES) private readonly features!: readonly BoardFeature[];

  /**
   * Adds queues to the board. `BullBoardModule.forRoot()` and `DelayQueueModule` are imported elsewhere in the application.
   *
   * @param queues - one or more; for the class of a typed queue, payloads that are added on the board are checked
   */
  static forFeature(...queues: BoardFeature[]): DynamicModule {
    return { module: DelayQueueBoardModule, providers: [{ provide: FEATURES, useValue: queues }] };
  }

  /** Nest calls it. */
  onModuleInit(): void {
    for (const { queue, options } of this.features) {
      const found = typeof queue === 'string' ? queue : this.modules.get(queue, { strict: false });
      this.board.addQueue(new DelayQueueBoardAdapter(this.producer, found, options));
    }
  }
}
