import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, test } from '@jest/globals';
import { Controller, Injectable, Scope } from '@nestjs/common';
import {
  again,
  DeferMessage,
  DelayedHandler,
  DelayQueue,
  type DelayQueueEvent,
  DelayQueueListener,
  type DelayQueueModuleOptions,
  type DelayQueueObserver,
  type HandlingOutcome,
  type OfferContext,
  OnDelayQueueEvent,
  payload,
  RejectMessage,
} from '../../lib/index.js';
import { z } from 'zod';
import { redisson } from '../../packages/redisson/src/index.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

class Orders extends DelayQueue('orders', { remind: payload<{ orderId: string }>() }) {}

const memory = { store: 'memory' as const };
const observedBy = (...observers: DelayQueueObserver[]): DelayQueueModuleOptions => ({ ...memory, observers });

describe.each([
  ['native', {}],
  ['redisson', { defaults: { layout: redisson() } }],
  ['memory', memory],
])('observers, on %s', (layout, module) => {
  const scene = new Scene();

  test('wrap offers, and add headers where the layout supports them', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const seen: OfferContext[] = [];
    const results: unknown[] = [];
    const observer: DelayQueueObserver = {
      offer: async (offers, next) => {
        seen.push(offers);
        results.push(await next({ trace: 'ours', tenant: 'ours' }));
      },
    };
    const { producer } = await scene.startApp({
      module: { ...module, observers: [observer] },
      providers: [handlerOf(queue, handled.record)],
    });
    const carriesHeaders = layout !== 'redisson';
    const headers: Record<string, string> = carriesHeaders ? { tenant: 'theirs' } : {};
    const one = await producer.offer(queue, 'one', 0, { headers });
    const two = await producer.offerAt(queue, 'two', new Date());
    const many = await producer.offerMany(queue, [
      { payload: 'three', delay: 0 },
      { payload: 'four', delay: 0, id: 'four' },
    ]);
    await handled.untilCalls(4);

    expect(results).toEqual([one, two, many]);
    const envelopes = [one, two, ...many].map(({ id }, i) => ({ id, type: '', headers: i === 0 ? headers : {} }));
    expect(seen).toEqual(
      [envelopes.slice(0, 1), envelopes.slice(1, 2), envelopes.slice(2)].map((messages) => ({
        queue,
        messages,
        carriesHeaders,
      })),
    );
    const ours = { trace: 'ours', tenant: 'ours' };
    const expected = carriesHeaders ? [{ ...ours, tenant: 'theirs' }, ours, ours, ours] : [{}, {}, {}, {}];
    const handledIn = [one, two, ...many].map(({ id }) => handled.of(id)[0]!.message.headers);
    expect(handledIn).toEqual(expected);
  });

  test('receive events about the outcome of a message', async () => {
    const queue = scene.newQueue();
    const events: string[] = [];
    const { producer } = await scene.startApp({
      module: {
        ...module,
        observers: [{ event: (event) => 'id' in event && events.push(`${event.name} ${event.id}`) }],
      },
      providers: [
        handlerOf<string>(queue, (reason) => {
          if (reason !== 'fine') throw new RejectMessage(reason);
        }),
      ],
    });
    await producer.offer(queue, 'fine', 0, { id: 'a' });
    await until(() => events.includes('handled a'));
    await producer.offer(queue, 'wrong', 0, { id: 'b' });
    await until(() => events.includes('dead b'));
    expect(events).toEqual(['handled a', 'failed b', 'dead b']);
  });
});

describe('an observer around the handling of messages', () => {
  const scene = new Scene();

  test('sees each outcome, and the handler runs in the context that the observer creates', async () => {
    const store = new AsyncLocalStorage<string>();
    const seen: [string, HandlingOutcome][] = [];
    const inside: (string | undefined)[] = [];
    const observer: DelayQueueObserver = {
      handle: async ({ id }, next) => seen.push([id, await store.run(`of ${id}`, next)]),
    };
    const failure = new TypeError('no');
    const ends: Record<string, () => unknown> = {
      ack: () => undefined,
      again: () => again('1h'),
      defer: () => Promise.reject(new DeferMessage('2h')),
      retry: () => {
        throw failure;
      },
      dead: async () => Promise.reject(new RejectMessage('never')),
    };
    const { producer } = await scene.startApp({
      module: observedBy(observer),
      providers: [
        handlerOf<string>(
          'jobs',
          async (end) => {
            await new Promise((resolve) => setImmediate(resolve));
            inside.push(store.getStore());
            return ends[end]!();
          },
          { backoff: { type: 'fixed', delay: '3h' } },
        ),
      ],
    });
    for (const end of Object.keys(ends)) {
      await producer.offer('jobs', end, 0, { id: end });
      await until(() => seen.some(([id]) => id === end));
    }
    const HOUR = 3_600_000;
    expect(seen).toEqual([
      ['ack', { kind: 'ack' }],
      ['again', { kind: 'again', delay: HOUR }],
      ['defer', { kind: 'defer', delay: 2 * HOUR }],
      ['retry', { kind: 'retry', delay: 3 * HOUR, error: failure }],
      ['dead', { kind: 'dead', error: new RejectMessage('never') }],
    ]);
    expect(inside).toEqual(Object.keys(ends).map((id) => `of ${id}`));
    expect(store.getStore()).toBeUndefined();
  });

  test('sees the reason when a schema refuses a payload', async () => {
    class Invoices extends DelayQueue('invoices', z.object({ total: z.number() })) {}
    @Injectable()
    class Handler {
      @DelayedHandler(Invoices)
      handle() {
        throw new Error('it must not be called');
      }
    }
    const seen: HandlingOutcome[] = [];
    const observer: DelayQueueObserver = { handle: async (_message, next) => seen.push(await next()) };
    const { producer } = await scene.startApp({ module: observedBy(observer), providers: [Invoices, Handler] });
    await producer.offer('invoices', { total: 'much' }, 0);
    await until(() => seen.length === 1);
    expect(seen).toEqual([
      { kind: 'dead', error: expect.objectContaining({ message: expect.stringContaining('total') }) },
    ]);
  });

  test('runs inside the observers that precede it', async () => {
    const order: string[] = [];
    const layer = (name: string): DelayQueueObserver => ({
      handle: async (_message, next) => {
        order.push(`> ${name}`);
        await next();
        order.push(`< ${name}`);
      },
      offer: (_offers, next) => next({ [name]: name, last: name }),
    });
    @Injectable()
    @DelayQueueListener()
    class Third implements DelayQueueObserver {
      handle = layer('third').handle!;
      offer = layer('third').offer!;
    }
    const handled = new Handled();
    const { producer } = await scene.startApp({
      module: observedBy(layer('first'), layer('second')),
      providers: [Third, handlerOf('jobs', handled.record)],
    });
    await producer.offer('jobs', 1, 0);
    await until(() => order.length === 6);
    expect(order).toEqual(['> first', '> second', '> third', '< third', '< second', '< first']);
    expect(handled.calls[0]!.message.headers).toEqual({
      first: 'first',
      second: 'second',
      third: 'third',
      last: 'first',
    });
  });

  test('wraps one batch call and sees an outcome for each of its messages', async () => {
    const seen: [string[], readonly HandlingOutcome[]][] = [];
    const singly: string[] = [];
    const store = new AsyncLocalStorage<string>();
    const inside: unknown[] = [];
    const observer: DelayQueueObserver = {
      handleBatch: async (messages, next) => {
        seen.push([messages.map(({ id }) => id), await store.run('batch', next)]);
      },
      handle: ({ id }, next) => [singly.push(id), next()],
    };
    const failure = new Error('no');
    @Injectable()
    class Statistics {
      @DelayedHandler('stats', { batch: 3, batchWait: '1h', backoff: { type: 'fixed', delay: '1h' } })
      async count() {
        await Promise.resolve();
        inside.push(store.getStore());
        return [undefined, failure, again('2h')];
      }
    }
    const { producer } = await scene.startApp({ module: observedBy(observer), providers: [Statistics] });
    await producer.offerMany(
      'stats',
      ['a', 'b', 'c'].map((id) => ({ id, payload: id, delay: 0 })),
    );
    await until(() => seen.length === 1);
    expect(seen).toEqual([
      [
        ['a', 'b', 'c'],
        [{ kind: 'ack' }, { kind: 'retry', delay: 3_600_000, error: failure }, { kind: 'again', delay: 7_200_000 }],
      ],
    ]);
    expect({ inside, singly }).toEqual({ inside: ['batch'], singly: [] });
    await until(async () => (await producer.counts('stats')).delayed === 2);
  });

  test('does not see messages that reach no handler', async () => {
    const seen: string[] = [];
    const events: string[] = [];
    const observer: DelayQueueObserver = {
      handle: ({ id }, next) => [seen.push(id), next()],
      event: ({ name }) => events.push(name),
    };
    @Injectable()
    class Typed {
      @DelayedHandler('jobs', 'known')
      handle() {
        return undefined;
      }
    }
    const { producer } = await scene.startApp({ module: observedBy(observer), providers: [Typed] });
    await producer.offer('jobs', 1, 0, { id: 'a', type: 'new' });
    await until(() => events.includes('deferred'));
    expect(seen).toEqual([]);
  });
});

describe('an observer that misbehaves', () => {
  const scene = new Scene();
  const no = () => {
    throw new Error('the observer is broken');
  };

  test('is named once in the log for many failures, and messages are still offered and handled', async () => {
    class Broken implements DelayQueueObserver {
      offer = no;
      handle = no;
      handleBatch = no;
      event = async () => Promise.reject(new Error('the observer is broken'));
    }
    const handled = new Handled();
    const { producer, log } = await scene.startApp({
      module: observedBy(new Broken(), { offer: (_offers, next) => next({ 'not text': 7 as never }) }),
      providers: [handlerOf('jobs', handled.record)],
    });
    await producer.offerMany(
      'jobs',
      [1, 2, 3].map((each) => ({ payload: each, delay: 0 })),
    );
    await handled.untilCalls(3);
    expect(handled.payloads).toEqual([1, 2, 3]);
    const complaints = log.filter((line) => line.includes('failed; messages are'));
    expect(complaints).toEqual([
      expect.stringContaining('Broken failed; messages are still offered and handled: Error: the observer is broken'),
      expect.stringMatching(/observers\[1\] failed; .* headers\['not text'\] must be text/),
    ]);
  });

  test('does not change the error of an offer, even by swallowing it', async () => {
    const { producer } = await scene.startApp({
      module: observedBy({ offer: async (_offers, next) => next().catch(() => 'fine') }),
    });
    await expect(producer.offer('jobs', Promise.resolve(), 0)).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' });
    await expect(producer.offer('jobs', 1, -1)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(producer.offer('no queue', 1, 0)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test.each<[unknown, string]>([
    [{}, 'observers'],
    [[null], 'observers.0 must be an object with some of the methods offer, handle, handleBatch, event'],
    [[{ event: 'dead' }], 'observers.0 must be an object'],
    [[{ handel: no }], 'observers.0 must be an object'],
  ])('is refused at startup if it is not a valid observer: %j', async (observers, problem) => {
    const start = scene.startApp({ module: { ...memory, observers: observers as DelayQueueObserver[] } });
    await expect(start).rejects.toMatchObject({ code: 'INVALID_OPTION', message: expect.stringContaining(problem) });
  });
});

describe('a listener', () => {
  const scene = new Scene();

  test('is called for the events with its name and queue, whether on a provider or a controller', async () => {
    const reported: string[] = [];
    const note = (who: string, { name, queue }: { name: string; queue: string }) =>
      reported.push(`${who}: ${name} ${queue}`);
    @Injectable()
    class Alarms {
      @OnDelayQueueEvent('dead', Orders)
      @OnDelayQueueEvent('dead', 'mails')
      ofTwo(event: DelayQueueEvent<'dead'>) {
        note('two', event);
      }
      @OnDelayQueueEvent('dead', 'tenant-*')
      ofFamily(event: DelayQueueEvent<'dead'>) {
        note('family', event);
      }
      @OnDelayQueueEvent('handled')
      ofAll(event: DelayQueueEvent<'handled'>) {
        note('all', event);
      }
    }
    @Controller()
    class Board {
      @OnDelayQueueEvent('dead')
      show({ queue, id, type, attempt, by, failure }: DelayQueueEvent<'dead'>) {
        reported.push(`board: ${queue} ${id} ${type} ${attempt} ${by} ${failure.message}`);
      }
    }
    const reject = () => {
      throw new RejectMessage('no');
    };
    const { producer, context } = await scene.startApp({
      module: memory,
      providers: [
        Orders,
        Alarms,
        handlerOf('orders', reject),
        handlerOf('mails', reject),
        handlerOf('tenant-*', reject),
      ],
      controllers: [Board],
    });
    await context.get(Orders).offer('remind', { orderId: 'o-1' }, 0, { id: 'a' });
    await until(() => reported.length === 2);
    await producer.offer('mails', 1, 0, { id: 'b' });
    await until(() => reported.length === 4);
    await producer.offer('tenant-7', 1, 0, { id: 'c' });
    await until(() => reported.length === 6);
    expect(reported).toEqual([
      'two: dead orders',
      'board: orders a remind 1 reject no',
      'two: dead mails',
      'board: mails b  1 reject no',
      'family: dead tenant-7',
      'board: tenant-7 c  1 reject no',
    ]);
  });

  test('is named in the log if it fails', async () => {
    @Injectable()
    class Alarms {
      @OnDelayQueueEvent('handled')
      async tell() {
        await Promise.reject(new Error('the chat is down'));
      }
    }
    const { producer, log } = await scene.startApp({
      module: memory,
      providers: [Alarms, handlerOf('jobs', () => undefined)],
    });
    await producer.offer('jobs', 1, 0);
    await until(() => log.some((line) => line.includes('Alarms.tell failed')));
    expect(log.join('\n')).toContain('the chat is down');
  });

  test('is refused at startup if its class is not a singleton', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Scoped {
      @OnDelayQueueEvent('dead')
      tell() {
        return undefined;
      }
    }
    @Injectable({ scope: Scope.TRANSIENT })
    @DelayQueueListener()
    class Transient {
      event() {
        return undefined;
      }
    }
    const refusal = (place: string) => ({ code: 'INVALID_LISTENER', message: expect.stringContaining(place) });
    const start = (provider: typeof Scoped | typeof Transient) =>
      scene.startApp({ module: memory, providers: [provider] });
    await expect(start(Scoped)).rejects.toMatchObject(
      refusal('@OnDelayQueueEvent on Scoped.tell: its class is request-'),
    );
    await expect(start(Transient)).rejects.toMatchObject(refusal('@DelayQueueListener() on Transient: its class is'));
  });

  test.each<[string, unknown, string]>([
    ['died', undefined, "there is no event 'died'"],
    ['memory-store', undefined, "there is no event 'memory-store'"],
    ['dead', 'no queue', '1–128 of the characters'],
    ['dead', class Other {}, '1–128 of the characters'],
  ])('is refused at startup for an unknown event or queue: %s of %s', async (event, queue, problem) => {
    @Injectable()
    class Wrong {
      @OnDelayQueueEvent(event as 'dead', queue as string)
      tell() {
        return undefined;
      }
    }
    const start = scene.startApp({ module: memory, providers: [Wrong] });
    const message: unknown = expect.stringContaining(problem);
    await expect(start).rejects.toMatchObject({ code: 'INVALID_LISTENER', message });
  });

  test('is refused at startup if its class has no observer method', async () => {
    @Injectable()
    @DelayQueueListener()
    class Idle {}
    const start = scene.startApp({ module: memory, providers: [Idle] });
    const message: unknown = expect.stringContaining('@DelayQueueListener() on Idle: it has none of the methods offer');
    await expect(start).rejects.toMatchObject({ code: 'INVALID_LISTENER', message });
  });
});
