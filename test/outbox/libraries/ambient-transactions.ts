import {
  ClsPluginTransactional,
  InjectTransaction,
  Propagation,
  Transactional,
  TransactionHost,
} from '@nestjs-cls/transactional';
import { type DynamicModule, Injectable, type Type } from '@nestjs/common';
import { ClsModule } from 'nestjs-cls';
import { DelayedHandler } from 'nestjs-delay-queue';
import { DelayQueueOutbox } from 'nestjs-delay-queue-outbox';
import type { Rest, Shop } from '../ambient-transactions.program.js';
import type { AmbientLibrary } from '../library.js';

const CONNECTION = 'connection of the application';

/** Gives each request a context, in which `@Transactional()` keeps the transaction. */
export function ambientTransactions({ connection, adapterFor }: AmbientLibrary): DynamicModule {
  const connectionModule = {
    module: class ConnectionModule {},
    providers: [{ provide: CONNECTION, useValue: connection }],
    exports: [CONNECTION],
  };
  const adapter = adapterFor(CONNECTION) as ConstructorParameters<typeof ClsPluginTransactional>[0]['adapter'];
  const plugin = new ClsPluginTransactional({ imports: [connectionModule], adapter, enableTransactionProxy: true });
  return ClsModule.forRoot({ global: true, middleware: { mount: true }, plugins: [plugin] });
}

/** The service that offers messages to a queue. */
export function shopOf(queue: string): Type<Shop> {
  @Injectable()
  class TransactionalShop implements Shop {
    constructor(
      private readonly host: TransactionHost,
      private readonly outbox: DelayQueueOutbox,
      @InjectTransaction() private readonly injected: object,
    ) {}

    @Transactional()
    async place(id: string, rest: Rest) {
      await this.placeOutside(id, rest);
    }

    @Transactional()
    async placeThroughProxy(id: string, rest: Rest) {
      await this.placeOutsideThroughProxy(id, rest);
    }

    @Transactional(Propagation.Nested)
    async placeNested(id: string, rest: Rest) {
      await this.placeOutside(id, rest);
    }

    @Transactional(Propagation.RequiresNew)
    async placeSeparately(id: string, rest: Rest) {
      await this.placeOutside(id, rest);
    }

    async placeOutside(id: string, rest: Rest) {
      await this.outbox.offer(this.host.tx as object, queue, 'placed', '1h', { id });
      await rest();
    }

    async placeOutsideThroughProxy(id: string, rest: Rest) {
      await this.outbox.offer(this.injected, queue, 'placed', '1h', { id });
      await rest();
    }

    @Transactional()
    @DelayedHandler(`${queue}.due`)
    async handle(id: string) {
      await this.outbox.offer(this.host.tx as object, queue, 'placed', '1h', { id });
    }
  }
  return TransactionalShop;
}
