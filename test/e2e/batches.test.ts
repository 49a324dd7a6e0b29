import { describe, expect, test } from '@jest/globals';
import {
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
  Scope,
  type Type,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { lastValueFrom, of } from 'rxjs';
import { z } from 'zod';
import {
  again,
  DelayedHandler,
  type DelayedMessage,
  DelayQueue,
  type PayloadOf,
  type QueueHandlerOptions,
  RejectMessage,
} from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Latch } from '../support/latch.js';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';

type Handle = (payloads: unknown[], messages: DelayedMessage[]) => unknown;

/** A provider whose handler takes many messages in one call. */
function batchHandlerOf(queue: string, handle: Handle, options: QueueHandlerOptions): Type {
  @Injectable()
  class BatchHandler {
    @DelayedHandler(queue, options)
    handleMany(payloads: unknown[], messages: DelayedMessage[]): unknown {
      return handle(payloads, messages);
    }
  }
  return BatchHandler;
}

describe.each([
  ['native', {}],
  ['redisson', { defaults: { layout: redisson() } }],
  ['memory', { store: 'memory' as const }],
])('a batch handler on %s', (_, module) => {
  const scene = new Scene();

  async function startApp(handle: Handle, options: QueueHandlerOptions) {
    const queue = scene.newQueue();
    const app = await scene.startApp({ module, providers: [batchHandlerOf(queue, handle, options)] });
    const offer = (count: number, delay: string | number = 0) =>
      app.producer.offerMany(
        queue,
        Array.from({ length: count }, (_each, i) => ({ id: `m${i}`, payload: i, delay })),
      );
    return { queue, offer, ...app };
  }

  test('gets many messages in one call, each exactly once, with payloads in the order of the messages', async () => {
    const calls: DelayedMessage[][] = [];
    const { queue, producer, offer } = await startApp(
      (payloads, messages) => {
        expect(payloads).toEqual(messages.map(({ payload }) => payload));
        calls.push(messages);
      },
      { batch: 100, batchWait: 50, concurrency: 2 },
    );
    await producer.pause(queue);
    await offer(450);
    await until(async () => (await producer.counts(queue)).ready === 450);
    await producer.resume(queue);
    await until(async () => Object.values(await producer.counts(queue)).every((count) => count === 0));
    expect(calls.flat().map(({ payload }) => payload)).toHaveLength(450);
    expect(new Set(calls.flat().map(({ id }) => id)).size).toBe(450);
    expect(Math.max(...calls.map(({ length }) => length))).toBe(100);
    expect(calls.length).toBeLessThanOrEqual(10);
  });

  test('can give each message an outcome of its own', async () => {
    const attempts: Record<string, number> = {};
    const { queue, producer, offer } = await startApp(
      (_payloads, messages) =>
        Promise.allSettled(
          messages.map(async ({ id, attempt }) => {
            await Promise.resolve();
            attempts[id] = attempt;
            if (id === 'm1') throw new Error('no');
            return id === 'm2' ? again('1h') : undefined;
          }),
        ),
      { batch: 3, batchWait: 1000, attempts: 2, backoff: { type: 'fixed', delay: 0 } },
    );
    await offer(3);
    await until(async () => (await producer.counts(queue)).dead === 1);
    await until(async () => (await producer.counts(queue)).delayed === 1);
    expect(attempts).toEqual({ m0: 1, m1: 2, m2: 1 });
    expect((await producer.deadLetters(queue).list()).messages.map(({ id }) => id)).toEqual(['m1']);
    expect(await producer.find(queue, 'm2')).toMatchObject({ state: 'delayed', failedAttempts: 0 });
    expect(await producer.find(queue, 'm0')).toBeNull();
  });

  test('may return rows, whose columns are never taken for outcomes', async () => {
    const inserted: unknown[] = [];
    const { queue, producer, offer } = await startApp(
      (payloads) => {
        const rows = payloads.map((id) => ({ id, status: 'rejected', reason: 'out of stock' }));
        inserted.push(...rows);
        return rows;
      },
      { batch: 10, batchWait: 100, backoff: { type: 'fixed', delay: 0 } },
    );
    await offer(10);
    await until(async () => Object.values(await producer.counts(queue)).every((count) => count === 0));
    expect(inserted).toHaveLength(10);
  });

  test('finishes only when the promises in its returned array have settled', async () => {
    const finish = new Latch();
    const { queue, producer, offer } = await startApp(
      (payloads) =>
        payloads.map(async (payload) => {
          await finish.opened;
          if (Number(payload) % 2) throw new RejectMessage('odd');
        }),
      { batch: 10, batchWait: 100 },
    );
    await offer(10);
    await until(async () => (await producer.counts(queue)).active === 10);
    finish.open();
    await until(async () => (await producer.counts(queue)).active === 0);
    const { messages: letters } = await producer.deadLetters(queue).list();
    expect(letters.map(({ id }) => id).sort()).toEqual(['m1', 'm3', 'm5', 'm7', 'm9']);
    expect(await producer.counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: 5 });
  });

  test('runs as many calls at once as its concurrency allows', async () => {
    let running = 0;
    let most = 0;
    let handled = 0;
    const { queue, producer, offer } = await startApp(
      async (payloads) => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 5));
        running--;
        handled += payloads.length;
      },
      { batch: 10, concurrency: 2 },
    );
    await offer(300);
    await until(() => handled === 300);
    expect(most).toBe(2);
    expect((await producer.counts(queue)).dead).toBe(0);
  });

  test('gets the messages that arrive within batchWait in one call', async () => {
    const calls: number[] = [];
    const { queue, producer } = await startApp((payloads) => void calls.push(payloads.length), {
      batch: 100,
      batchWait: 400,
    });
    for (let i = 0; i < 5; i++) {
      await producer.offer(queue, i, 0);
      await until(async () => (await producer.counts(queue)).active === i + 1);
    }
    await until(() => calls.length > 0);
    expect(calls).toEqual([5]);
  });

  test('leaves its waiting messages ready on shutdown, without spending an attempt', async () => {
    const { queue, producer, offer, close } = await startApp(() => undefined, { batch: 100, batchWait: '1h' });
    await offer(3);
    await until(async () => (await producer.counts(queue)).active === 3);
    const looker = 'store' in module ? undefined : await scene.startApp({ module: { ...module, consume: false } });
    await close();
    if (!looker) return;
    expect(await looker.producer.counts(queue)).toEqual({ delayed: 0, ready: 3, active: 0, dead: 0 });
    expect(await looker.producer.find(queue, 'm0')).toMatchObject({ failedAttempts: 0 });
  });
});

describe.each([
  ['native', {}],
  ['memory', { store: 'memory' as const }],
])('a batch of messages that again() redelivers with new payloads, on %s', (_, module) => {
  const scene = new Scene();

  test("keeps each message's headers, group, type and expiry", async () => {
    const queue = scene.newQueue();
    const calls: DelayedMessage[][] = [];
    const handle: Handle = (_payloads, messages) => {
      calls.push(messages);
      return messages.map(({ attempt, id }) => again('1h', { payload: `${id} ${attempt} anew` }));
    };
    const { producer } = await scene.startApp({
      module: { ...module, queues: { [queue]: { groups: { concurrency: 1 } } } },
      providers: [batchHandlerOf(queue, handle, { batch: 3, batchWait: '10s' })],
    });
    const given = ['a', 'b', 'c'].map((id, i) => ({
      id,
      payload: id,
      delay: 0,
      type: `type-${id}`,
      headers: { tenant: id },
      group: `group-${id}`,
      expiresAfter: (i + 1) * 3_600_000,
    }));
    await producer.offerMany(queue, given);
    await until(() => calls.length > 0);
    await until(async () => (await producer.counts(queue)).delayed === 3);
    expect(calls).toHaveLength(1);
    for (const { id, type, headers, group, expiresAfter } of given) {
      const found = (await producer.find(queue, id))!;
      expect(found).toMatchObject({ payload: `${id} 1 anew`, type, headers, group });
      // The expiry is counted from the new due time.
      expect(found.expiresAt!.getTime() - found.dueAt.getTime()).toBe(expiresAfter);
    }
  });
});

describe('guards, interceptors and request-scoped providers of a batch handler', () => {
  const scene = new Scene();

  test('see the arrays of payloads and messages, and the results', async () => {
    const seen: unknown[] = [];
    class Watch implements CanActivate, NestInterceptor {
      canActivate(context: ExecutionContext) {
        seen.push(['guard', context.getType(), context.getArgByIndex<unknown[]>(0)]);
        return true;
      }
      async intercept(context: ExecutionContext, next: CallHandler) {
        const result: unknown = await lastValueFrom(next.handle());
        seen.push([
          'interceptor',
          context
            .switchToRpc()
            .getContext<DelayedMessage[]>()
            .map(({ id }) => id),
          result,
        ]);
        return of(result);
      }
    }
    @Injectable({ scope: Scope.REQUEST })
    class Current {
      constructor(@Inject(REQUEST) readonly messages: DelayedMessage[]) {}
    }
    @Injectable()
    class Statistics {
      constructor(private readonly current: Current) {}

      @UseGuards(Watch)
      @UseInterceptors(Watch)
      @DelayedHandler('stats', { batch: 2, batchWait: '1h' })
      count(_payloads: number[], messages: DelayedMessage[]) {
        seen.push(['handler', this.current.messages === messages]);
        return [again('1h'), undefined];
      }
    }
    const { producer } = await scene.startApp({ module: { store: 'memory' }, providers: [Current, Statistics] });
    await producer.offerMany('stats', [
      { id: 'a', payload: 1, delay: 0 },
      { id: 'b', payload: 2, delay: 0 },
    ]);
    await until(async () => (await producer.find('stats', 'b')) === null);
    expect(seen).toEqual([
      ['guard', 'delay-queue', [1, 2]],
      ['handler', true],
      ['interceptor', ['a', 'b'], [expect.anything(), undefined]],
    ]);
    expect(await producer.find('stats', 'a')).toMatchObject({ state: 'delayed' });
  });
});

describe.each([
  ['native', {}],
  ['memory', { store: 'memory' as const }],
])('batches and single messages in one queue, on %s', (_, module) => {
  const scene = new Scene();

  async function startApp(handle: (messages: readonly DelayedMessage[]) => unknown, concurrency: number) {
    class Visits extends DelayQueue(scene.newQueue(), { page: z.number(), day: z.number() }, { concurrency }) {}
    @Injectable()
    class Statistics {
      @DelayedHandler(Visits, 'page', { batch: 10 })
      pages(_pages: number[], messages: DelayedMessage[]) {
        return handle(messages);
      }
      @DelayedHandler(Visits, 'day')
      day(_day: number, message: DelayedMessage) {
        return handle([message]);
      }
    }
    const app = await scene.startApp({ module, providers: [Visits, Statistics] });
    const visits = app.context.get(Visits);
    const offer = (count: number) =>
      visits.offerMany(
        Array.from({ length: count }, (_each, i) => ({ type: i % 2 ? 'page' : 'day', payload: i, delay: 0 })),
      );
    return { ...app, visits, offer };
  }

  test('share the concurrency of their queue, and each message is handled once', async () => {
    let running = 0;
    let most = 0;
    const handled: string[] = [];
    const { visits, offer } = await startApp(async (messages) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 2));
      running--;
      handled.push(...messages.map(({ id }) => id));
    }, 3);
    await visits.pause();
    await offer(120);
    await until(async () => (await visits.counts()).ready === 120);
    await visits.resume();
    await until(async () => Object.values(await visits.counts()).every((count) => count === 0));
    expect(new Set(handled).size).toBe(120);
    expect(handled).toHaveLength(120);
    expect(most).toBe(3);
  });

  test('return to ready without spending an attempt if the process stops before they are handled', async () => {
    const calls: string[][] = [];
    const finish = new Latch();
    const { visits, offer, close } = await startApp((messages) => {
      calls.push(messages.map(({ id }) => id));
      return finish.opened;
    }, 1);
    const ids = (await offer(8)).map(({ id }) => id);
    await until(async () => calls.length === 1 && (await visits.counts()).active === 8);
    const closed = close();
    const waiting = ids.filter((id) => !calls[0]!.includes(id));
    await until(async () => (await visits.counts()).ready === waiting.length);
    for (const id of waiting) expect(await visits.find(id)).toMatchObject({ state: 'ready', failedAttempts: 0 });
    finish.open();
    await closed;
    expect(calls).toHaveLength(1);
  });
});

describe('the batch options', () => {
  const scene = new Scene();
  const memory = { store: 'memory' as const };

  test.each<[object, string]>([
    [{ batch: 0 }, 'batch must be a whole number from 1 to 1000'],
    [{ batch: 1001 }, 'batch must be a whole number from 1 to 1000'],
    [{ batch: 1.5 }, 'batch must be a whole number from 1 to 1000'],
    [{ batch: 5, batchWait: '2h' }, 'batchWait must be between'],
    [{ batchWait: '1s' }, 'batchWait needs batch'],
  ])('make startup fail if they are invalid: %j', async (options, problem) => {
    const providers = [batchHandlerOf('stats', () => undefined, options)];
    const start = scene.startApp({ module: memory, providers });
    await expect(start).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    await expect(start).rejects.toThrow(`BatchHandler.handleMany: ${problem}`);
  });

  test.each<object>([{ defaults: { batch: 5 } }, { queues: { stats: { batch: 5 } } }])(
    'are refused in the module options: %j',
    async (module) => {
      await expect(scene.startApp({ module: { ...memory, ...module } })).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        message: expect.stringContaining('batch is not an option'),
      });
    },
  );

  test('apply only to their own handler, not to that of another type in the queue', async () => {
    const seen: unknown[] = [];
    class Visits extends DelayQueue('visits', { page: z.object({ path: z.string() }), day: z.number() }) {}
    @Injectable()
    class Statistics {
      @DelayedHandler(Visits, 'page', { batch: 10, batchWait: 100 })
      pages(pages: PayloadOf<typeof Visits, 'page'>[]) {
        seen.push(pages);
      }
      @DelayedHandler(Visits, 'day')
      day(day: number) {
        seen.push(day);
      }
    }
    const { context, producer } = await scene.startApp({ module: memory, providers: [Visits, Statistics] });
    const visits = context.get(Visits);
    await visits.offerMany([
      { type: 'page', payload: { path: '/a' }, delay: 0 },
      { type: 'day', payload: 7, delay: 0 },
      { type: 'page', payload: { path: '/b' }, delay: 0 },
    ]);
    await producer.offer('visits', { path: 5 }, 0, { type: 'page', id: 'wrong' });
    await until(() => seen.length === 2);
    expect(seen).toEqual([7, [{ path: '/a' }, { path: '/b' }]]);
    expect(await visits.find('wrong')).toMatchObject({ state: 'dead' });
  });
});
