import { BULL_BOARD_INSTANCE, type BullBoardInstance } from '@bull-board/nestjs';
import { type DynamicModule, Inject, Module, type OnModuleInit, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import {
  type DefinedBy,
  DelayQueueError,
  type DelayQueueProducer,
  getDelayQueueProducerToken,
} from 'nestjs-delay-queue';
import type { BoardAdapterOptions, QueueHandle } from '../board-queue.js';
import { DelayQueueBoardAdapter } from '../delay-queue-board.adapter.js';

/** A queue on the board. */
export interface BoardFeature {
  /** Its name, or the class of a typed queue. */
  readonly queue: string | (Type<QueueHandle> & DefinedBy<unknown>);
  /** The instance of a queue given by its name. Default: the one without a name. A class has its own. */
  readonly instance?: string | undefined;
  /** Options of bull-board: `readOnlyMode`, `displayName`, `description`… */
  readonly options?: BoardAdapterOptions | undefined;
}

const FEATURES = Symbol('features of the board');

/**
 * Adds queues to the board of `@bull-board/nestjs`.
 * @example
 * ```ts
 * @Module({ imports: [DelayQueueBoardModule.forFeature({ queue: 'orders' })] })
 * class OrdersModule {}
 * ```
 */
@Module({})
export class DelayQueueBoardModule implements OnModuleInit {
  @Inject() private readonly modules!: ModuleRef;
  @Inject(BULL_BOARD_INSTANCE) private readonly board!: BullBoardInstance;
  @Inject(FEATURES) private readonly features!: readonly BoardFeature[];

  /**
   * Adds queues to the board. `BullBoardModule.forRoot()` and `DelayQueueModule` are imported elsewhere in the application.
   * @param queues - one or more; for the class of a typed queue, payloads that are added on the board are checked
   */
  static forFeature(...queues: BoardFeature[]): DynamicModule {
    return { module: DelayQueueBoardModule, providers: [{ provide: FEATURES, useValue: queues }] };
  }

  /** Called by Nest. */
  onModuleInit(): void {
    for (const feature of this.features) {
      const { queue, options } = feature;
      const producer: DelayQueueProducer = this.modules.get(getDelayQueueProducerToken(instanceOf(feature)), {
        strict: false,
      });
      const found = typeof queue === 'string' ? queue : this.modules.get(queue, { strict: false });
      this.board.addQueue(new DelayQueueBoardAdapter(producer, found, options));
    }
  }
}

function instanceOf({ queue, instance }: BoardFeature): string | undefined {
  if (typeof queue === 'string') return instance;
  if (instance === undefined) return queue.definition.instance;
  const problem = `instance: queue '${queue.definition.queue}' is a class, which has its own: leave it out`;
  throw new DelayQueueError('INVALID_ARGUMENT', `DelayQueueBoardModule.forFeature(): ${problem}`);
}
