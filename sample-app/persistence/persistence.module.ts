import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { Switches } from '../controls/switches.js';
import { ShopEvents } from '../live/shop-events.js';
import { StoreHealth } from '../live/store-health.js';
import { OrderBook } from '../orders/order-book.js';
import { SHOP_STORE, type ShopStore } from '../store/shop-store.js';
import { TaskBoard } from '../tasks/task-board.js';
import { MemoryOrderBook } from './memory/memory.order-book.js';
import { MemoryShopEvents } from './memory/memory.shop-events.js';
import { MemoryStoreHealth } from './memory/memory.store-health.js';
import { MemorySwitches } from './memory/memory.switches.js';
import { MemoryTaskBoard } from './memory/memory.task-board.js';
import { RedisConnection } from './redis/redis-connection.js';
import { RedisOrderBook } from './redis/redis.order-book.js';
import { RedisShopEvents } from './redis/redis.shop-events.js';
import { RedisStoreHealth } from './redis/redis.store-health.js';
import { RedisSwitches } from './redis/redis.switches.js';
import { RedisTaskBoard } from './redis/redis.task-board.js';

/** Keeps the data of the shop, in Redis or in memory. */
@Module({})
export class PersistenceModule {
  static on(store: ShopStore): DynamicModule {
    return {
      module: PersistenceModule,
      global: true,
      providers: [
        { provide: SHOP_STORE, useValue: store },
        ...(store.kind === 'redis' ? onRedis(store.url) : inMemory()),
      ],
      exports: [SHOP_STORE, OrderBook, TaskBoard, ShopEvents, StoreHealth, Switches],
    };
  }
}

function onRedis(url: string): Provider[] {
  return [
    { provide: RedisConnection, useFactory: () => new RedisConnection(url) },
    { provide: OrderBook, useClass: RedisOrderBook },
    { provide: TaskBoard, useClass: RedisTaskBoard },
    { provide: ShopEvents, useClass: RedisShopEvents },
    { provide: StoreHealth, useClass: RedisStoreHealth },
    { provide: Switches, useClass: RedisSwitches },
  ];
}

function inMemory(): Provider[] {
  return [
    { provide: OrderBook, useClass: MemoryOrderBook },
    { provide: TaskBoard, useClass: MemoryTaskBoard },
    { provide: ShopEvents, useClass: MemoryShopEvents },
    { provide: StoreHealth, useClass: MemoryStoreHealth },
    { provide: Switches, useClass: MemorySwitches },
  ];
}
