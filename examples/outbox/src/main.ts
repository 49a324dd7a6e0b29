import 'reflect-metadata';
import { PGlite, type Transaction } from '@electric-sql/pglite';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DelayedHandler, DelayQueue, DelayQueueModule, payload, type PayloadOf } from 'nestjs-delay-queue';
import { createTableSql, DelayQueueOutbox, OutboxModule, pglite } from 'nestjs-delay-queue-outbox';

class Orders extends DelayQueue('orders', payload<{ orderId: string }>()) {}

@Injectable()
class Shop {
  constructor(
    private readonly db: PGlite,
    private readonly outbox: DelayQueueOutbox<Transaction>,
  ) {}

  /** The order and its timeout are committed together, or neither is. */
  async place(orderId: string, { paymentFails = false } = {}) {
    await this.db.transaction(async (transaction) => {
      await transaction.query("INSERT INTO orders (id, status) VALUES ($1, 'unpaid')", [orderId]);
      await this.outbox.offer(transaction, Orders, { orderId }, '1s', { id: `unpaid:${orderId}` });
      if (paymentFails) throw new Error(`${orderId}: the card was refused`);
    });
    console.log(`${orderId}: placed`);
  }

  async pay(orderId: string) {
    await this.db.transaction(async (transaction) => {
      await transaction.query("UPDATE orders SET status = 'paid' WHERE id = $1", [orderId]);
      await this.outbox.cancel(transaction, Orders, `unpaid:${orderId}`);
    });
    console.log(`${orderId}: paid`);
  }

  @DelayedHandler(Orders)
  async cancelUnpaid({ orderId }: PayloadOf<typeof Orders>) {
    const { affectedRows } = await this.db.query(
      "UPDATE orders SET status = 'cancelled' WHERE id = $1 AND status = 'unpaid'",
      [orderId],
    );
    if (affectedRows === 1) console.log(`${orderId}: cancelled, because nobody paid`);
  }
}

/** PostgreSQL in this process. */
@Module({
  providers: [
    {
      provide: PGlite,
      useFactory: async () => {
        const db = await PGlite.create();
        await db.exec('CREATE TABLE orders (id text PRIMARY KEY, status text NOT NULL)');
        await db.exec(createTableSql('postgresql')); // a migration, in real life
        return db;
      },
    },
  ],
  exports: [PGlite],
})
class DatabaseModule {}

@Module({
  imports: [
    DatabaseModule,
    DelayQueueModule.forRoot({ store: 'memory' }), // connection: 'redis://…', in real life
    OutboxModule.forRootAsync({
      imports: [DatabaseModule],
      inject: [PGlite],
      useFactory: (db: PGlite) => ({ database: pglite(db) }),
    }),
  ],
  providers: [Orders, Shop],
})
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
const shop = app.get(Shop);
await shop.place('o-1');
await shop.place('o-2');
await shop.place('o-3', { paymentFails: true }).catch((error: Error) => console.log(error.message));
await shop.pay('o-2');
await new Promise((resolve) => setTimeout(resolve, 2000));
await app.close();
