import { Injectable } from '@nestjs/common';
import { OrderBook, type OrderDraft, type Settlement } from '../../orders/order-book.js';
import type { Order, OrderOutcome } from '../../orders/order.js';
import { CONFIRM, SETTLE } from './order.scripts.js';
import { RedisConnection } from './redis-connection.js';

const LIST = 'shop:orders';
const DRAFT_SECONDS = 3600;

@Injectable()
export class RedisOrderBook extends OrderBook {
  constructor(private readonly redis: RedisConnection) {
    super();
  }

  override async draft({ id, item }: OrderDraft): Promise<void> {
    await this.redis.commands
      .multi()
      .hset(key(id), { id, item, status: 'unpaid' })
      .expire(key(id), DRAFT_SECONDS)
      .exec();
  }

  override async confirm(id: string, dueAt: Date): Promise<Order> {
    const fields = await this.redis.commands.eval(CONFIRM, 2, key(id), LIST, id, dueAt.getTime());
    const order = fields === null ? null : readOrder(pairs(fields as string[]));
    if (!order) throw new Error(`There is no draft ${id}`);
    return order;
  }

  override async discard(id: string): Promise<void> {
    await this.redis.commands.del(key(id));
  }

  override async settle(id: string, outcome: OrderOutcome): Promise<Settlement | null> {
    const reply = await this.redis.commands.eval(SETTLE, 1, key(id), outcome);
    if (reply === null) return null;
    const [won, fields] = reply as [number, string[]];
    const order = readOrder(pairs(fields));
    return order && { order, won: won === 1 };
  }

  override async find(id: string): Promise<Order | null> {
    return readOrder(await this.redis.commands.hgetall(key(id)));
  }

  override async latest(limit: number): Promise<Order[]> {
    const ids = await this.redis.commands.zrevrange(LIST, 0, limit - 1);
    const orders = await Promise.all(ids.map((id) => this.find(id)));
    return orders.filter((order) => order !== null);
  }

  override async now(): Promise<Date> {
    const [seconds, microseconds] = (await this.redis.commands.time()).map(Number) as [number, number];
    return new Date(seconds * 1000 + Math.floor(microseconds / 1000));
  }
}

function key(id: string): string {
  return `shop:order:${id}`;
}

/** The reply of a script's HGETALL: names and values in turn. */
function pairs(fields: string[]): Record<string, string> {
  const record: Record<string, string> = {};
  for (let i = 0; i < fields.length; i += 2) record[fields[i] ?? ''] = fields[i + 1] ?? '';
  return record;
}

/** Null for a draft, which has no due time yet, and for nothing at all. */
function readOrder({ id, item, status, placedAt, dueAt, settledAt }: Record<string, string>): Order | null {
  if (id === undefined || item === undefined || placedAt === undefined || dueAt === undefined) return null;
  return {
    id,
    item,
    status: status as Order['status'],
    placedAt: instant(placedAt),
    dueAt: instant(dueAt),
    settledAt: settledAt === undefined ? null : instant(settledAt),
  };
}

function instant(milliseconds: string): string {
  return new Date(Number(milliseconds)).toISOString();
}
