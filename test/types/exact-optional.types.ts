import {
  again,
  DelayedHandler,
  DelayQueue,
  DelayQueueModule,
  type DelayQueueModuleOptions,
  type DelayQueueProducer,
  payload,
  type QueueOptions,
} from '../../lib/index.js';
import { jackson, json, kryo5, redisson } from '../../packages/redisson/src/index.js';
import { encryption } from '../../lib/encryption/index.js';
import { openTelemetry } from '../../lib/otel/index.js';
import type { DelayQueueHealthOptions } from '../../lib/terminus/index.js';
import type { CallBounds, HandleOptions } from '../../lib/testing/index.js';

/** Values that an application reads from its environment. */
declare const text: string | undefined;
declare const number: number | undefined;
declare const producer: DelayQueueProducer;

/** Every option, none of which is set. */
declare const nothing: Record<keyof DelayQueueModuleOptions, undefined>;
declare const nothingOfQueue: Record<keyof QueueOptions, undefined>;

DelayQueueModule.forRoot(nothing);
DelayQueueModule.forRoot({ connection: process.env.REDIS_URL, defaults: { ...nothingOfQueue, concurrency: number } });
DelayQueueModule.forRoot({
  defaults: { backoff: { type: 'exponential', delay: number, factor: number, maxDelay: number, jitter: number } },
  queues: { orders: { backoff: { type: 'fixed', delay: 1, jitter: number } } },
});
DelayQueueModule.forRoot({ defaults: { groups: { concurrency: number, onRetry: undefined } } });
DelayQueueModule.forRoot({
  defaults: { encryption: encryption({ current: 'k1', keys: { k1: new Uint8Array(32) }, plain: undefined }) },
  queues: { open: { encryption: 'off' }, inherited: { encryption: undefined } },
});
// @ts-expect-error not what encryption() returns
DelayQueueModule.forRoot({ defaults: { encryption: { keys: {} } } });
// @ts-expect-error which key encrypts must be said
encryption({ keys: { k1: 'text' } });
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
void producer.offer('orders', {}, 1, { group: text });
void producer.limits('orders').set({ globalConcurrency: undefined, rate: { max: 1, per: '1s' } }, { by: text });
void producer.group('orders', 'customer').list('dead', { cursor: text, limit: number });
void producer.queues({ cursor: text, limit: number });

export const others = [
  openTelemetry({ traces: undefined, families: undefined }),
  redisson({ codec: undefined, format: undefined, name: text }),
  json({ numbers: undefined, jackson: undefined }),
  jackson({ classes: undefined, jackson: undefined, uuids: undefined }),
  kryo5({ classes: undefined }),
  { queues: undefined, maxOverdue: number, timeout: number } satisfies DelayQueueHealthOptions,
  { limit: number, patience: number } satisfies CallBounds,
  { type: text, id: text, headers: undefined, group: text, attempt: number, patience: number } satisfies HandleOptions,
];
