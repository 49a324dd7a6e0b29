import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DelayedHandler, DelayQueue, DelayQueueModule, payload, type PayloadOf } from 'nestjs-delay-queue';

class Indexing extends DelayQueue('indexing', payload<{ productId: string; version: number }>()) {}

@Injectable()
class ProductIndexer {
  constructor(private readonly indexing: Indexing) {}

  /** Each change puts off the work until nothing has changed for a second. */
  changed(productId: string, version: number) {
    return this.indexing.offer({ productId, version }, '1s', { id: productId, onDuplicate: 'replace' });
  }

  @DelayedHandler(Indexing)
  index({ productId, version }: PayloadOf<typeof Indexing>) {
    console.log(`${productId}: version ${version} is in the index`);
  }
}

@Module({ imports: [DelayQueueModule.forRoot({ store: 'memory' })], providers: [Indexing, ProductIndexer] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
const indexer = app.get(ProductIndexer);
for (let version = 1; version <= 5; version++) {
  await indexer.changed('product 1', version);
  console.log(`product 1: version ${version} is saved`);
  await sleep(200);
}
await sleep(1500);
await app.close();
