import {
  DelayedHandler,
  DelayQueue,
  DelayQueueModule,
  type DelayQueueModuleOptions,
  type DelayQueueProducer,
  type DelayedMessage,
  payload,
  RejectMessage,
} from 'nestjs-delay-queue';
import { calendar } from 'nestjs-delay-queue/calendar';
import { Injectable, type ModuleMetadata } from '@nestjs/common';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MIB = 1024 * 1024;

export class Emails extends DelayQueue('emails', { welcome: payload<{ to: string }>(), digest: payload<object>() }) {}

@Injectable()
class Handlers {
  @DelayedHandler('orders', { attempts: 1, expiresAfter: '30d' })
  order(order: { readonly orderId: number }): void {
    if (order.orderId % 3 === 0) throw new TypeError(`Order ${order.orderId} has no customer.`);
    if (order.orderId % 3 === 1) throw new RejectMessage('The payment was refused.');
  }

  @DelayedHandler(Emails, 'welcome')
  welcome(): void {}

  @DelayedHandler(Emails, 'digest')
  digest(): void {}

  /** Runs until somebody aborts it. */
  @DelayedHandler('exports', { concurrency: 2 })
  async export(_: unknown, { signal }: DelayedMessage): Promise<void> {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  }

  @DelayedHandler('reminders', { groups: { concurrency: 1 } })
  async remind(_: unknown, { signal }: DelayedMessage): Promise<void> {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  }
}

/** An application with queues of every kind, for a board to show. */
export function sampleQueues(connection: string, prefix: string): ModuleMetadata {
  return samples({ connection, prefix }, { connection, prefix: `${prefix}:billing` });
}

/** The same application with stores in memory. */
export function sampleQueuesInMemory(): ModuleMetadata {
  return samples({ store: 'memory' }, { store: 'memory' });
}

const QUEUES: DelayQueueModuleOptions['queues'] = {
  large: { maxPayloadBytes: 2 * MIB },
  emails: { history: { for: '1h', payloads: true } },
  orders: { history: { for: '1h' } },
};

function samples(unnamed: DelayQueueModuleOptions, billing: DelayQueueModuleOptions): ModuleMetadata {
  return {
    imports: [
      DelayQueueModule.forRoot({ ...unnamed, calendar, queues: QUEUES }),
      DelayQueueModule.forRoot({ ...billing, name: 'billing' }),
    ],
    providers: [Emails, Handlers],
  };
}

/** Fills the queues: everything that a board can show, hostile content included. */
export async function offerSamples(producer: DelayQueueProducer, billing: DelayQueueProducer): Promise<void> {
  await producer.offerMany(
    'orders',
    Array.from({ length: 300 }, (_, i) => ({
      id: `order:${i}`,
      payload: {
        orderId: i,
        customer: { name: `Customer ${i}`, email: `customer${i}@example.com` },
        lines: [{ sku: 'A-1', count: i }],
      },
      headers: { tenant: i % 2 ? 'acme' : 'umbrella' },
      delay: i < 12 ? 0 : Math.round(i ** 2 * (DAY / 1000)) + MINUTE,
    })),
  );
  await producer.offerMany('emails', [
    { id: 'welcome:ada', type: 'welcome', payload: { to: 'ada@example.com' }, delay: '1h' },
    {
      ...{ id: 'welcome:bob', type: 'welcome', payload: { to: 'bob@example.com' }, delay: '2d' },
      ...{ attempts: 3, backoff: { type: 'exponential', delay: '10m' } },
    },
  ]);
  const eve = { id: 'welcome:eve', type: 'welcome', headers: { tenant: 'acme' } } as const;
  await producer.offer('emails', { to: 'eve@example.com' }, 0, { ...eve, attempts: 4 });
  await producer.repeat('emails', 'digest', { cron: '0 9 * * 1-5', timeZone: 'Europe/Berlin', type: 'digest' }, {});
  await producer.offerMany(
    'exports',
    Array.from({ length: 5 }, (_, i) => ({ id: `export:${i}`, payload: { part: i }, delay: 0 })),
  );
  await producer.offerMany(
    'reminders',
    Array.from({ length: 60 }, (_, i) => ({
      payload: { i },
      group: `customer-${i % 7}`,
      delay: i < 40 ? 0 : HOUR * i,
    })),
  );
  await producer.offerMany('nobody', [
    { id: 'unhandled', payload: { text: 'Nobody handles this queue.' }, delay: 0 },
    { id: 'bytes', payload: Buffer.from([0, 1, 2, 254, 255]), delay: '1h' },
    { id: '<img src=x onerror=alert(1)>', payload: { html: '</script><script>alert(1)</script>' }, delay: '2h' },
    { id: 'a/b?c#d%2F', payload: 'x'.repeat(5000), headers: { '<b>': '<i>' }, delay: '3h' },
  ]);
  await producer.offer('paused', {}, '1h');
  await producer.pause('paused');
  await billing.offer('invoices', { of: 'ada' }, '1d', { id: 'invoice:1' });
}
