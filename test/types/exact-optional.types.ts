import {
  again,
  DelayedHandler,
  DelayQueue,
  DelayQueueModule,
  type DelayQueueProducer,
  payload,
} from '../../lib/index.js';
import { jackson, json, kryo5, redisson } from '../../lib/redisson/index.js';
import { openTelemetry } from '../../lib/otel/index.js';
import type { DelayQueueHealthOptions } from '../../lib/terminus/index.js';
import type { CallBounds, HandleOptions } from '../../lib/testing/index.js';

/** What an application reads from its environment. */
declare const text: string | undefined;
declare const number: number | undefined;
declare const flag: boolean | undefined;
declare const producer: DelayQueueProducer;

DelayQueueModule.forRoot({
  connection: process.env.REDIS_URL,
  prefix: text,
  allowEviction: flag,
  consume: flag,
  inheritAppConfig: flag,
  observers: undefined,
  store: undefined,
  shutdownTimeout: number,
  offerTimeout: number,
  defaults: {
    concurrency: number,
    partitions: number,
    rate: undefined,
    lease: number,
    attempts: number,
    backoff: { type: 'exponential', delay: number, factor: number, maxDelay: number, jitter: number },
    timeout: number,
    unknownTypeGrace: number,
    maxPayloadBytes: number,
    maxMessages: number,
    maxDeadLetters: number,
    checkInterval: number,
    blockTimeout: number,
    layout: undefined,
  },
  queues: { orders: { backoff: { type: 'fixed', delay: 1, jitter: number } } },
});
DelayQueueModule.forRoot({ defaults: undefined, queues: undefined });
DelayQueueModule.forRoot({ connection: { cluster: { nodes: [], options: undefined } } });
// @ts-expect-error not what may be missing
DelayQueueModule.forRoot({ defaults: { backoff: { type: 'fixed', delay: undefined } } });

class Orders extends DelayQueue('orders', payload<{ orderId: string }>(), { concurrency: number }) {}

export class Handlers {
  @DelayedHandler('emails', { concurrency: number, batch: number, batchWait: number })
  send(): void {}

  @DelayedHandler(Orders, { timeout: number, batch: undefined })
  remind(): unknown {
    return again('1d', { payload: undefined });
  }
}

void producer.offer('orders', {}, 1, { id: text, type: text, headers: undefined, onDuplicate: undefined });
void producer.list('orders', 'dead', { cursor: text, limit: number, offset: number });
void producer.queues({ cursor: text, limit: number });

export const others = [
  openTelemetry({ traces: undefined, families: undefined }),
  redisson({ codec: undefined, format: undefined, name: text }),
  json({ numbers: undefined, jackson: undefined }),
  jackson({ classes: undefined, jackson: undefined, uuids: undefined }),
  kryo5({ classes: undefined }),
  { queues: undefined, maxOverdue: number, timeout: number } satisfies DelayQueueHealthOptions,
  { limit: number, patience: number } satisfies CallBounds,
  { type: text, id: text, headers: undefined, attempt: number, patience: number } satisfies HandleOptions,
];
