import { Injectable } from '@nestjs/common';
import {
  type Confirmation,
  OrderBook,
  type OrderDraft,
  type Settlement,
  type TimeoutMessage,
} from '../../orders/order-book.js';
import type { Order, OrderOutcome } from '../../orders/order.js';
import { CONFIRM, NOTE_FAILURE, SETTLE } from './order.scripts.js';
import { RedisConnection } from './redis-connection.js';
import { TurnBatch } from './turn-batch.js';

const LIST = 'shop:orders';
const CANCELLED = 'shop:cancelled';
const DRAFT_SECONDS = 3600;

/** How an order is to end. */
interface Ending {
  readonly id: string;
  readonly outcome: OrderOutcome;
  readonly message: TimeoutMessage | undefined;
}

@Injectable()
export class RedisOrderBook extends OrderBook {
  /** Orders that are due together end together: a call for each would cost more than the queue does. */
  readonly #settlements = new TurnBatch<Ending, Settlement | null>((endings) => this.#settleAll(endings));

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

  override settle(id: string, outcome: OrderOutcome, message?: TimeoutMessage): Promise<Settlement | null> {
    return this.#settlements.add({ id, outcome, message });
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

  async #settleAll(endings: readonly Ending[]): Promise<(Settlement | null)[]> {
    const keys = [CANCELLED, ...endings.map(({ id }) => key(id))];
    const args = endings.flatMap(({ outcome, message }) => {
      return [outcome, message?.dueAt.getTime() ?? '', message?.heldUp ? 1 : 0];
    });
    const replies = await this.redis.commands.eval(SETTLE, keys.length, ...keys, ...args);
    return (replies as ([number, string[]] | null)[]).map((reply) => {
      const order = reply && readReply(reply[1]);
      return order && { order, won: reply[0] === 1 };
    });
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
    heldUp: rest.heldUp === '1',
    failedAttempts: Number(rest.failedAttempts ?? 0),
    batch: rest.batch || null,
    // Orders of earlier versions lack the field, and are listed.
    listed: rest.listed !== '0',
  };
}

function instant(milliseconds: string): string {
  return new Date(Number(milliseconds)).toISOString();
}
