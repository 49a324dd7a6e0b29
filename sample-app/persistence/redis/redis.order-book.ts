import { Injectable } from '@nestjs/common';
import { type Confirmation, OrderBook, type OrderDraft, type Settlement } from '../../orders/order-book.js';
import type { Order, OrderOutcome } from '../../orders/order.js';
import { CONFIRM, NOTE_FAILURE, SETTLE } from './order.scripts.js';
import { RedisConnection } from './redis-connection.js';

const LIST = 'shop:orders';
const CANCELLED = 'shop:cancelled';
const DRAFT_SECONDS = 3600;

@Injectable()
export class RedisOrderBook extends OrderBook {
  constructor(private readonly redis: RedisConnection) {
    super();
  }

  override async draft(drafts: readonly OrderDraft[]): Promise<void> {
    const pipeline = this.redis.commands.pipeline();
    for (const { id, item, batch, listed } of drafts) {
      pipeline.hset(key(id), { id, item, status: 'unpaid', batch: batch ?? '', listed: listed ? 1 : 0 });
      pipeline.expire(key(id), DRAFT_SECONDS);
    }
    results(await pipeline.exec());
  }

  override async confirm(confirmations: readonly Confirmation[]): Promise<Order[]> {
    const pipeline = this.redis.commands.pipeline();
    for (const { id, dueAt } of confirmations) pipeline.eval(CONFIRM, 2, key(id), LIST, id, dueAt.getTime());
    return results(await pipeline.exec()).map((fields, i) => {
      const order = readReply(fields);
      if (!order) throw new Error(`There is no draft ${confirmations[i]?.id}`);
      return order;
    });
  }

  override async discard(id: string): Promise<void> {
    await this.redis.commands.del(key(id));
  }

  override async settle(id: string, outcome: OrderOutcome, messageDueAt?: Date): Promise<Settlement | null> {
    const due = messageDueAt?.getTime() ?? '';
    const reply = await this.redis.commands.eval(SETTLE, 2, key(id), CANCELLED, outcome, due);
    if (reply === null) return null;
    const [won, fields] = reply as [number, string[]];
    const order = readReply(fields);
    return order && { order, won: won === 1 };
  }

  override async noteFailure(id: string, attempt: number): Promise<Order | null> {
    return readReply(await this.redis.commands.eval(NOTE_FAILURE, 1, key(id), attempt));
  }

  override async find(id: string): Promise<Order | null> {
    return readOrder(await this.redis.commands.hgetall(key(id)));
  }

  override async latest(limit: number): Promise<Order[]> {
    const ids = await this.redis.commands.zrevrange(LIST, 0, limit - 1);
    const orders = await Promise.all(ids.map((id) => this.find(id)));
    return orders.filter((order) => order !== null);
  }

  override async cancelled(): Promise<number> {
    return Number(await this.redis.commands.get(CANCELLED));
  }

  override async now(): Promise<Date> {
    const [seconds, microseconds] = (await this.redis.commands.time()).map(Number) as [number, number];
    return new Date(seconds * 1000 + Math.floor(microseconds / 1000));
  }
}

function key(id: string): string {
  return `shop:order:${id}`;
}

/**
 * @throws what a command of the pipeline has failed with
 */
function results(replies: [Error | null, unknown][] | null): unknown[] {
  return (replies ?? []).map(([error, result]) => {
    if (error) throw error;
    return result;
  });
}

/** The reply of a script's HGETALL: names and values in turn. */
function readReply(reply: unknown): Order | null {
  const fields = (reply ?? []) as string[];
  const record: Record<string, string> = {};
  for (let i = 0; i < fields.length; i += 2) record[fields[i] ?? ''] = fields[i + 1] ?? '';
  return readOrder(record);
}

/** Null for a draft, which has no due time yet, and for an order that does not exist. */
function readOrder({ id, item, placedAt, dueAt, settledAt, ...rest }: Record<string, string>): Order | null {
  if (id === undefined || item === undefined || placedAt === undefined || dueAt === undefined) return null;
  return {
    id,
    item,
    status: rest.status as Order['status'],
    placedAt: instant(placedAt),
    dueAt: instant(dueAt),
    settledAt: settledAt === undefined ? null : instant(settledAt),
    lateBy: rest.lateBy === undefined ? null : Number(rest.lateBy),
    failedAttempts: Number(rest.failedAttempts ?? 0),
    batch: rest.batch || null,
    // Orders of earlier versions lack the field, and are listed.
    listed: rest.listed !== '0',
  };
}

function instant(milliseconds: string): string {
  return new Date(Number(milliseconds)).toISOString();
}
