import { describe, expect, test } from '@jest/globals';
import { Injectable, Module, type Type } from '@nestjs/common';
import { type as ark } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import {
  DelayedHandler,
  type DelayedMessage,
  DelayQueue,
  DelayQueueModule,
  type MessageOf,
  payload,
  type PayloadOf,
} from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { startRoot } from '../support/test-app.js';
import { until } from '../support/until.js';

const memory = { store: 'memory' as const };

/** Their secrets must not appear in errors and logs. */
const SECRET = 's3cret';

class PaymentDto {
  orderId!: string;
}

class Orders extends DelayQueue(
  'orders',
  {
    'cancel-unpaid': z.object({
      orderId: z.string(),
      at: z.iso.datetime().transform((text) => new Date(text)),
      tags: z.array(z.object({ name: z.string() })).default([]),
    }),
    remind: v.object({ orderId: v.string() }),
    audit: ark({ orderId: 'string' }),
    slow: z.object({ orderId: z.string().refine((id) => Promise.resolve(id !== 'none')) }),
    pay: PaymentDto,
    note: payload<{ text: string }>(),
  },
  { attempts: 2, backoff: { type: 'fixed', delay: '1h' } },
) {}

class Emails extends DelayQueue('emails', z.object({ to: z.email() })) {}

describe('a typed queue', () => {
  const scene = new Scene();

  test('is injected by its class and delivers payloads to the handlers of their types', async () => {
    const handled = new Handled();

    @Injectable()
    class Shop {
      constructor(
        readonly orders: Orders,
        readonly emails: Emails,
      ) {}

      @DelayedHandler(Orders, 'cancel-unpaid')
      cancel(given: PayloadOf<typeof Orders, 'cancel-unpaid'>, message: MessageOf<typeof Orders, 'cancel-unpaid'>) {
        handled.record(given, message);
      }

      @DelayedHandler(Emails)
      send(given: PayloadOf<typeof Emails>, message: DelayedMessage) {
        handled.record(given, message);
      }
    }
    const { context } = await scene.startApp({ module: memory, providers: [Orders, Emails, Shop] });
    const { orders, emails } = context.get(Shop);
    await orders.offer('cancel-unpaid', { orderId: 'o', at: '2030-01-01T00:00:00Z' }, 0, { id: 'a' });
    await emails.offer({ to: 'a@b.cd' }, 0, { id: 'b' });
    await handled.untilCalls(2);
    const [a] = handled.of('a');
    expect(a!.payload).toEqual({ orderId: 'o', at: new Date('2030-01-01'), tags: [] });
    expect(a!.message).toMatchObject({ type: 'cancel-unpaid', payload: a!.payload });
    expect(handled.of('b')[0]).toMatchObject({ payload: { to: 'a@b.cd' }, message: { type: '' } });
  });

  test('has every method of the producer, for its own queue', async () => {
    const { context, producer } = await scene.startApp({ module: memory, providers: [Orders] });
    const orders = context.get(Orders);
    expect(orders.queue).toBe('orders');
    await orders.offer('note', { text: 'a' }, '1h', { id: 'a' });
    await orders.offerAt('note', { text: 'b' }, new Date(Date.now() + 3_600_000), { id: 'b', headers: { t: '1' } });
    await orders.offerMany([
      { type: 'note', payload: { text: 'c' }, delay: '1h', id: 'c' },
      { type: 'remind', payload: { orderId: 'd' }, delay: '2h', id: 'd' },
    ]);
    expect(await orders.counts()).toEqual(await producer.counts('orders'));
    const none = { delayed: 0, ready: 0, active: 0, dead: 0 };
    const byType = await orders.countsByType();
    expect(byType).toEqual(await producer.countsByType('orders'));
    expect(byType).toEqual(
      new Map([
        ['note', { ...none, delayed: 3 }],
        ['remind', { ...none, delayed: 1 }],
      ]),
    );
    // @ts-expect-error the queue has no such type
    expect(byType.get('cancel')).toBeUndefined();
    expect(await orders.nextDue()).toEqual(await producer.nextDue('orders'));
    expect(await orders.find('d')).toMatchObject({ queue: 'orders', type: 'remind', payload: { orderId: 'd' } });
    const { messages } = await orders.list('delayed', { offset: 3 });
    expect({ messages, cursor: null }).toEqual(await producer.list('orders', 'delayed', { offset: 3 }));
    for (const message of messages) if (message.type === 'remind') expect(message.payload.orderId).toBe('d');
    expect(messages).toHaveLength(1);
    expect(await orders.reschedule('a', 0)).toBe(true);
    expect(await orders.cancel('a')).toBe(true);
    await orders.pause();
    expect(await orders.isPaused()).toBe(true);
    await orders.resume();
    expect(await orders.isPaused()).toBe(false);
    expect(await orders.deadLetters().list()).toEqual({ messages: [], cursor: null });
    expect(await orders.clear()).toBe(3);
  });

  test('may have its own methods and injected dependencies in its class', async () => {
    @Injectable()
    class Names {
      readonly first = 'a';
    }
    @Injectable()
    class Greetings extends DelayQueue('greetings', payload<{ name: string }>()) {
      constructor(private readonly names: Names) {
        super();
      }
      greet() {
        return this.offer({ name: this.names.first }, '1h', { id: 'greeting' });
      }
    }
    const { context } = await scene.startApp({ module: memory, providers: [Names, Greetings] });
    await context.get(Greetings).greet();
    expect(await context.get(Greetings).find('greeting')).toMatchObject({ payload: { name: 'a' } });
  });

  test('may have properties of any name in its class', async () => {
    @Injectable()
    class Notes extends DelayQueue('notes', payload<string>()) {
      readonly producer = 'mine';
      readonly offers = 'mine';
      readonly definition = 'mine';
    }
    const { context } = await scene.startApp({ module: memory, providers: [Notes] });
    await context.get(Notes).offer('a', '1h', { id: 'a' });
    expect(await context.get(Notes).find('a')).toMatchObject({ payload: 'a' });
  });

  test('stores the input, so that a transforming schema is applied only once', async () => {
    const handled = new Handled();
    class Counters extends DelayQueue('counters', z.object({ n: z.number().transform((n) => n + 1) })) {}
    @Injectable()
    class Handler {
      @DelayedHandler(Counters)
      count(given: PayloadOf<typeof Counters>, message: DelayedMessage) {
        handled.record(given, message);
      }
    }
    const { context } = await scene.startApp({ module: memory, providers: [Counters, Handler] });
    const counters = context.get(Counters);
    await counters.offer({ n: 1 }, '1h', { id: 'a' });
    expect(await counters.find('a')).toMatchObject({ payload: { n: 1 } });
    await counters.reschedule('a', 0);
    expect((await handled.untilCalls(1)).payload).toEqual({ n: 2 });
  });

  test.each<[string, (orders: Orders) => Promise<unknown>, string]>([
    ['zod', (q) => q.offer('cancel-unpaid', { orderId: SECRET, at: SECRET }, 0), 'payload.at'],
    [
      'zod, deep',
      (q) => q.offer('cancel-unpaid', { orderId: 'o', at: '2030-01-01T00:00:00Z', tags: [{ name: 5 as never }] }, 0),
      'payload.tags.0.name',
    ],
    ['valibot', (q) => q.offer('remind', { orderId: [SECRET] as never }, 0), 'payload.orderId'],
    ['arktype', (q) => q.offer('audit', { orderId: { SECRET } as never }, 0), 'payload.orderId'],
    ['an async schema', (q) => q.offer('slow', { orderId: 'none' }, 0), 'payload.orderId'],
    ['offerAt', (q) => q.offerAt('remind', {} as never, new Date()), 'payload.orderId'],
    ['a primitive', (q) => q.offer('remind', SECRET as never, 0), 'payload'],
  ])(
    'names the path, reveals no value and writes nothing when the schema refuses an offer (%s)',
    async (_, offer, path) => {
      const { context, producer } = await scene.startApp({ module: memory, providers: [Orders] });
      const refusal = (await offer(context.get(Orders)).catch((error: unknown) => error)) as Error;
      expect(refusal).toMatchObject({
        code: 'INVALID_PAYLOAD',
        message: expect.stringMatching(new RegExp(`: the schema refuses ${path}$`)),
      });
      expect(JSON.stringify(refusal, Object.getOwnPropertyNames(refusal))).not.toContain(SECRET);
      expect(await producer.counts('orders')).toMatchObject({ delayed: 0, ready: 0 });
    },
  );

  test('checks a payload in the JSON form that the handler receives', async () => {
    const { context } = await scene.startApp({ module: memory, providers: [Orders] });
    const orders = context.get(Orders);
    const date: unknown = new Date(0);
    await orders.offer('audit', { orderId: date as string }, '1h', { id: 'a' });
    expect(await orders.find('a')).toMatchObject({ payload: { orderId: '1970-01-01T00:00:00.000Z' } });
  });

  test.each<[string, { type: 'remind' | 'slow'; payload: { orderId: string } }]>([
    ['at once', { type: 'remind', payload: {} as never }],
    ['later', { type: 'slow', payload: { orderId: 'none' } }],
  ])('refuses a list as a whole and names the message whose payload is refused %s', async (_, wrong) => {
    const { context, producer } = await scene.startApp({ module: memory, providers: [Orders] });
    const right = { type: 'remind' as const, payload: { orderId: 'o' }, delay: 0 };
    await expect(context.get(Orders).offerMany([right, { ...wrong, delay: 0 }, right])).rejects.toMatchObject({
      code: 'INVALID_PAYLOAD',
      message: expect.stringMatching(/^messages\[1\]: .*payload\.orderId/),
    });
    expect(await producer.counts('orders')).toMatchObject({ delayed: 0, ready: 0 });
  });

  test('refuses a list because of the first problem found, regardless of slower checks', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    const { context } = await scene.startApp({ module: memory, providers: [Orders] });
    const offer = context.get(Orders).offerMany([
      { type: 'slow', payload: { orderId: 'none' }, delay: 0 },
      { type: 'remind', payload: {} as never, delay: 0 },
    ]);
    await expect(offer).rejects.toThrow('messages[1]: ');
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  test('turns a stored payload that the schema refuses into a dead letter, and does not log the value', async () => {
    const handled = new Handled();
    @Injectable()
    class Handler {
      @DelayedHandler(Orders, 'remind')
      remind(given: unknown, message: DelayedMessage) {
        handled.record(given, message);
      }
      @DelayedHandler(Orders, 'slow')
      slow(given: unknown, message: DelayedMessage) {
        handled.record(given, message);
      }
    }
    const { producer, log } = await scene.startApp({ module: memory, providers: [Orders, Handler] });
    await producer.offer('orders', { orderId: [SECRET] }, 0, { id: 'a', type: 'remind' });
    await producer.offer('orders', { orderId: 'none' }, 0, { id: 'b', type: 'slow' });
    await until(async () => (await producer.counts('orders')).dead === 2);
    const { messages: letters } = await producer.deadLetters('orders').list();
    expect(letters.map(({ id, error }) => [id, error.name, error.message]).sort()).toEqual([
      ['a', 'InvalidPayload', 'the schema refuses payload.orderId'],
      ['b', 'InvalidPayload', 'the schema refuses payload.orderId'],
    ]);
    expect(handled.calls).toEqual([]);
    expect(log.filter((line) => line.includes('is a dead letter'))).toHaveLength(2);
    expect(log.join('\n')).not.toContain(SECRET);
  });

  test('makes the attempt or the offer fail when a schema throws', async () => {
    let fails = false;
    const fragile = z.string().refine(() => {
      if (fails) throw new Error('database is down');
      return true;
    });
    class Fragile extends DelayQueue('fragile', fragile, { backoff: { type: 'fixed', delay: '1h' } }) {}
    @Injectable()
    class Handler {
      @DelayedHandler(Fragile)
      handle() {}
    }
    const { context, producer } = await scene.startApp({ module: memory, providers: [Fragile, Handler] });
    const queue = context.get(Fragile);
    await queue.offer('x', '1h', { id: 'a' });
    fails = true;
    await expect(queue.offer('x', 0)).rejects.toMatchObject({
      code: 'INVALID_PAYLOAD',
      message: expect.stringContaining('database is down'),
    });
    await queue.reschedule('a', 0);
    await until(async () => (await producer.find('fragile', 'a'))?.failedAttempts === 1);
    expect(await producer.find('fragile', 'a')).toMatchObject({ state: 'delayed' });
  });

  test('lists its types in the error for a JavaScript caller that uses an unknown one', async () => {
    const { context } = await scene.startApp({ module: memory, providers: [Orders, Emails] });
    const orders: { offer(...args: unknown[]): Promise<unknown> } = context.get<never>(Orders);
    await expect(orders.offer('cancel', {}, 0)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: "type: queue 'orders' has the types cancel-unpaid, remind, audit, slow, pay, note; given: 'cancel'",
    });
    const emails: { offer(...args: unknown[]): Promise<unknown> } = context.get<never>(Emails);
    await expect(emails.offer({ to: 'a@b.cd' }, 0, { type: 'email' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
  });
});

describe('a queue definition', () => {
  const scene = new Scene();
  const start = (providers: Type[], module = {}) => scene.startApp({ module: { ...memory, ...module }, providers });

  test('gives the queue its options, which the deployment overrides', async () => {
    @Injectable()
    class Handler {
      @DelayedHandler(Orders, 'note')
      note() {
        throw new Error('no');
      }
    }
    for (const [module, failed] of [
      [{}, '1h'],
      [{ queues: { orders: { attempts: 1 } } }, 'dead'],
    ] as const) {
      const { producer } = await start([Orders, Handler], module);
      const { id } = await producer.offer('orders', { text: '' }, 0, { type: 'note' });
      await until(async () => (await producer.find('orders', id))?.failedAttempts === 1);
      expect((await producer.find('orders', id))?.state).toBe(failed === 'dead' ? 'dead' : 'delayed');
    }
  });

  test('applies in a process that only offers', async () => {
    class Small extends DelayQueue('small', payload<string>(), { maxPayloadBytes: 10 }) {}
    const { context } = await start([Small]);
    await expect(context.get(Small).offer('x'.repeat(20), 0)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  });

  test('is sufficient for a handler, even if its class is not a provider in that process', async () => {
    const handled = new Handled();
    @Injectable()
    class Handler {
      @DelayedHandler(Orders, 'remind')
      remind(given: unknown, message: DelayedMessage) {
        handled.record(given, message);
      }
    }
    const { producer } = await start([Handler]);
    await producer.offer('orders', { orderId: 'o' }, 0, { type: 'remind' });
    expect(await handled.untilCalls(1)).toMatchObject({ payload: { orderId: 'o' } });
  });

  test('may be provided by many modules', async () => {
    @Module({ providers: [Orders], exports: [Orders] })
    class OrdersModule {}
    @Module({ imports: [OrdersModule], providers: [Orders] })
    class OtherModule {}
    const app = await startRoot({
      module: class Root {},
      imports: [DelayQueueModule.forRoot(memory), OrdersModule, OtherModule],
    });
    expect(app.context.get(Orders, { strict: false }).queue).toBe('orders');
    await app.close();
  });

  test('may exist twice if both are equal, and makes startup fail if they differ', async () => {
    const note = payload<string>();
    class One extends DelayQueue('twice', { note }, { attempts: 2 }) {}
    class Same extends DelayQueue('twice', { note }, { attempts: 2 }) {}
    class OtherOptions extends DelayQueue('twice', { note }, { attempts: 3 }) {}
    class OtherTypes extends DelayQueue('twice', { note, more: note }, { attempts: 2 }) {}
    class OtherSchema extends DelayQueue('twice', { note: z.string() }, { attempts: 2 }) {}
    class OtherKind extends DelayQueue('twice', note, { attempts: 2 }) {}
    expect((await start([One, Same])).context.get(Same).queue).toBe('twice');
    for (const Other of [OtherOptions, OtherTypes, OtherSchema, OtherKind]) {
      await expect(start([One, Other])).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        message: `Queue 'twice' has two definitions that differ, One and ${Other.name}: use one class for it`,
      });
    }
  });

  test('makes startup fail if a handler that names the queue has options of its own', async () => {
    @Injectable()
    class Handler {
      @DelayedHandler('orders', { concurrency: 2 })
      rest() {}
    }
    await expect(start([Orders, Handler])).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringMatching(/Handler\.rest: queue 'orders' is defined by Orders/),
    });
  });

  test.each<[string, unknown[], string]>([
    ['an invalid queue name', ['a queue', payload()], 'a queue name has'],
    ['no payload', ['q', undefined], 'the payload must be'],
    ['a plain function', ['q', () => undefined], 'the payload must be'],
    ['a list', ['q', [payload()]], 'the payload must be'],
    ['an object without types', ['q', {}], 'has no types'],
    ['a malformed type name', ['q', { 'two words': payload() }], 'a message type has'],
    ['a type without a payload', ['q', { note: 'string' }], "the payload of 'note' must be"],
    ['an unknown option', ['q', payload(), { concurency: 2 }], 'concurency is not an option'],
    ['types of a queue without types', ['q', payload(), { types: { a: { attempts: 1 } } }], 'messages have no type'],
    ['an unknown type', ['q', { note: payload() }, { types: { nota: { attempts: 1 } } }], 'did you mean note?'],
    [
      'bad attempts of a type',
      ['q', { note: payload() }, { types: { note: { attempts: 0 } } }],
      'types.note.attempts must',
    ],
    ['no object as types', ['q', { note: payload() }, { types: 3 }], 'types must be an object'],
    [
      'a function as a backoff',
      ['q', { a: payload() }, { types: { a: { backoff: () => 1 } } }],
      'types.a.backoff must be',
    ],
  ])('is refused immediately with %s', (_, args, problem) => {
    const define = DelayQueue as unknown as (...args: unknown[]) => unknown;
    expect(() => define(...args)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringContaining(problem) }),
    );
  });

  test.each<[string, unknown[], string]>([
    ['no type of a queue with types', [Orders], 'name one of its types: cancel-unpaid'],
    [
      'a type that the queue does not have',
      [Orders, 'cancel'],
      "name one of its types: cancel-unpaid, remind, audit, slow, pay, note; given: 'cancel'",
    ],
    ['a type of a queue without types', [Emails, 'email'], 'its messages have no type'],
    ['a class that is not a queue', [PaymentDto], 'DelayQueue() did not make this class'],
    ['an option of the queue', [Emails, { concurrency: 2 }], 'concurrency: options of the queue'],
  ])('makes startup fail for a handler that names %s', async (_, args, problem) => {
    const decorate = DelayedHandler as unknown as (...args: unknown[]) => MethodDecorator;
    @Injectable()
    class Handler {
      @decorate(...args)
      handle() {}
    }
    await expect(start([Handler])).rejects.toMatchObject({
      message: expect.stringMatching(/@DelayedHandler on Handler\.handle: /),
    });
    await expect(start([Handler])).rejects.toThrow(problem);
  });

  test("makes startup fail if it declares types and its queue gets layout 'redisson'", async () => {
    await expect(
      scene.startApp({ module: { queues: { orders: { layout: redisson() } } }, providers: [Orders] }),
    ).rejects.toMatchObject({ code: 'INVALID_OPTION', message: expect.stringContaining("layout 'redisson'") });
  });
});
