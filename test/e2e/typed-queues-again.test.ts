import { describe, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { again, DelayedHandler, DelayQueue, type PayloadOf } from '../../lib/index.js';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';

const memory = { store: 'memory' as const };

/** It must not appear in errors and logs. */
const SECRET = 's3cret';

describe('a handler of a typed queue that returns again() with a new payload', () => {
  const scene = new Scene();

  const results: Record<string, (result: unknown) => unknown> = {
    'a result': (result) => result,
    'a promise': (result) => Promise.resolve(result),
  };
  const schemas = {
    'a schema': z.object({ orderId: z.string() }),
    'an async schema': z.object({ orderId: z.string().refine((id) => Promise.resolve(id !== 'none')) }),
  };
  const ways = Object.entries(schemas).flatMap(([schema, spec]) =>
    Object.entries(results).map(([way, give]) => ({ schema, spec, way, give })),
  );

  async function startApp(spec: (typeof schemas)['a schema'], handle: () => unknown) {
    class Reminders extends DelayQueue('reminders', spec, { attempts: 2, backoff: { type: 'fixed', delay: 0 } }) {}
    @Injectable()
    class Handler {
      @DelayedHandler(Reminders)
      remind() {
        return handle();
      }
    }
    const { context, log } = await scene.startApp({ module: memory, providers: [Reminders, Handler] });
    return { reminders: context.get(Reminders), log };
  }

  test.each(ways)(
    'fails the attempt and keeps the old payload if $schema refuses the new one ($way)',
    async (given) => {
      let calls = 0;
      const { reminders, log } = await startApp(given.spec, () => {
        calls++;
        return given.give(again('1h', { payload: { orderId: [SECRET] } }));
      });
      await reminders.offer({ orderId: 'o' }, 0, { id: 'a' });
      await until(async () => (await reminders.counts()).dead === 1);
      expect(calls).toBe(2);
      const { messages: letters } = await reminders.deadLetters().list();
      expect(letters).toMatchObject([{ payload: { orderId: 'o' }, failedAttempts: 2 }]);
      expect(letters[0]!.error).toMatchObject({
        name: 'DelayQueueError',
        message: "payload of queue 'reminders': the schema refuses payload.orderId",
      });
      expect(log.filter((line) => line.includes('attempt'))).not.toEqual([]);
      expect(JSON.stringify([letters, log])).not.toContain(SECRET);
    },
  );

  test.each(ways)('stores a payload that $schema accepts ($way)', async (given) => {
    let isCalled = false;
    const { reminders } = await startApp(given.spec, () => {
      isCalled = true;
      return given.give(again('1h', { payload: { orderId: new Date(0) } }));
    });
    await reminders.offer({ orderId: 'o' }, 0, { id: 'a' });
    await until(async () => isCalled && (await reminders.find('a'))?.state === 'delayed');
    expect(await reminders.find('a')).toMatchObject({
      failedAttempts: 0,
      payload: { orderId: '1970-01-01T00:00:00.000Z' },
    });
  });

  test('stores the input of a schema that transforms it', async () => {
    class Counters extends DelayQueue('counters', z.object({ n: z.string().transform(Number) })) {}
    const seen: number[] = [];
    @Injectable()
    class Handler {
      @DelayedHandler(Counters)
      count({ n }: PayloadOf<typeof Counters>) {
        seen.push(n);
        return again(seen.length === 1 ? 0 : '1h', { payload: { n: String(n + 1) } });
      }
    }
    const { context } = await scene.startApp({ module: memory, providers: [Counters, Handler] });
    await context.get(Counters).offer({ n: '1' }, 0, { id: 'a' });
    await until(async () => seen.length === 2 && (await context.get(Counters).find('a'))?.state === 'delayed');
    expect(seen).toEqual([1, 2]);
    expect(await context.get(Counters).find('a')).toMatchObject({ payload: { n: '3' } });
  });

  test('fails only those messages of a batch whose new payloads the schema refuses', async () => {
    class Reminders extends DelayQueue('reminders', schemas['an async schema'], { attempts: 1 }) {}
    @Injectable()
    class Handler {
      @DelayedHandler(Reminders, { batch: 3, batchWait: '1h' })
      remind() {
        return ['new', 'none', 5].map((orderId) => again('1h', { payload: { orderId } }));
      }
    }
    const { context } = await scene.startApp({ module: memory, providers: [Reminders, Handler] });
    const reminders = context.get(Reminders);
    await reminders.offerMany(['a', 'b', 'c'].map((id) => ({ id, payload: { orderId: id }, delay: 0 })));
    await until(async () => (await reminders.counts()).dead === 2);
    expect(await reminders.find('a')).toMatchObject({ state: 'delayed', payload: { orderId: 'new' } });
    expect(await reminders.find('b')).toMatchObject({ state: 'dead', payload: { orderId: 'b' } });
    expect(await reminders.find('c')).toMatchObject({ state: 'dead', payload: { orderId: 'c' } });
  });
});
