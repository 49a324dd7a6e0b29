import { describe, expect, test } from '@jest/globals';
import type { DelayQueueModuleOptions } from '../../lib/index.js';
import { DelayQueue, payload } from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';
import { z } from 'zod';

const STORES: [string, DelayQueueModuleOptions][] = [
  ['Redis', {}],
  ['Redis with partitions', { defaults: { partitions: 3 } }],
  ['memory', { store: 'memory' }],
];

describe.each(STORES)('a delayed message, on %s', (_name, module) => {
  const scene = new Scene();

  test('gets a new payload, headers and type with its new due time, and keeps what the change omits', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module });
    const offered = { id: 'a', type: 't', headers: { h: '1' }, expiresAfter: '1m' } as const;
    await producer.offer(queue, { n: 1 }, '1h', offered);
    expect(await producer.reschedule(queue, 'a', '2h', { payload: Buffer.from('n') })).toBe(true);
    const found = await producer.find(queue, 'a');
    expect(found).toMatchObject({ state: 'delayed', payload: Buffer.from('n'), type: 't', headers: { h: '1' } });
    expect(found!.expiresAt!.getTime()).toBe(found!.dueAt.getTime() + 60_000);
    expect(await producer.reschedule(queue, 'a', '2h', { headers: {}, type: 'u' })).toBe(true);
    expect(await producer.find(queue, 'a')).toMatchObject({ payload: Buffer.from('n'), type: 'u', headers: {} });
    expect(await producer.reschedule(queue, 'none', 0, { payload: 1 })).toBe(false);
  });

  test('is handled at once with its new payload when moved to now, and not again at its former due time', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ module, providers: [handlerOf(queue, handled.record)] });
    await producer.offer(queue, 'timed out', 400, { id: 'a' });
    await producer.offer(queue, 'timed out', 400, { id: 'b' });
    expect(await producer.reschedule(queue, 'a', 0, { payload: 'paid' })).toBe(true);
    await until(() => handled.calls.length === 2);
    expect(await producer.reschedule(queue, 'b', 0, { payload: 'paid' })).toBe(false);
    expect(handled.calls.map(({ id, payload: what }) => `${id} ${String(what)}`)).toEqual(['a paid', 'b timed out']);
  });

  test('keeps all changes made concurrently', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module });
    await producer.offer(queue, 0, '1h', { id: 'a' });
    const changes = [{ payload: 1 }, { headers: { h: '1' } }, { type: 't' }];
    const done = await Promise.all(changes.map((change) => producer.reschedule(queue, 'a', '1h', change)));
    expect(done).toEqual([true, true, true]);
    expect(await producer.find(queue, 'a')).toMatchObject({ payload: 1, headers: { h: '1' }, type: 't' });
  });

  test('is debounced by offers that move its due time, but no later than maxWait after the first offer', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module });
    const offer = (what: number) =>
      producer.offer(queue, what, '8s', { id: 'a', onDuplicate: 'replace', maxWait: '10s' });
    const first = await offer(1);
    const { offeredAt } = (await producer.find(queue, 'a'))!;
    expect(first.dueAt.getTime()).toBeLessThanOrEqual(offeredAt.getTime() + 8002);
    let last = first;
    await until(async () => (last = await offer(2)).dueAt.getTime() > first.dueAt.getTime());
    await producer.reschedule(queue, 'a', '1h');
    const { dueAt } = await offer(3);
    expect(dueAt.getTime()).toBeLessThanOrEqual(offeredAt.getTime() + 10_000);
    expect(await producer.find(queue, 'a')).toMatchObject({ payload: 3, offeredAt });
    await producer.offer(queue, 4, '1h', { id: 'a', onDuplicate: 'replace' });
    expect((await producer.find(queue, 'a'))!.dueAt.getTime()).toBeGreaterThan(offeredAt.getTime() + 3_000_000);
    expect(last.created).toBe(false);
  });
});

describe('a change', () => {
  const scene = new Scene();

  test('is refused by a layout that does not support it, as is maxWait', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { queues: { [queue]: { layout: redisson() } } } });
    await producer.offer(queue, 1, '1h', { id: 'a' });
    const refused = { code: 'UNSUPPORTED_BY_LAYOUT' };
    await expect(producer.reschedule(queue, 'a', 0, { payload: 2 })).rejects.toMatchObject(refused);
    const debounced = producer.offer(queue, 1, 0, { id: 'a', onDuplicate: 'replace', maxWait: 1 });
    await expect(debounced).rejects.toMatchObject(refused);
    expect(await producer.reschedule(queue, 'a', '2h', {})).toBe(true);
    expect(await producer.find(queue, 'a')).toMatchObject({ state: 'delayed', payload: 1 });
  });

  test.each([
    ['an undefined payload', { payload: undefined }, 'INVALID_PAYLOAD', 'payload'],
    ['a function as its payload', { payload: () => 1 }, 'INVALID_PAYLOAD', 'payload'],
    ['a number as a header', { headers: { h: 1 } }, 'INVALID_ARGUMENT', 'headers'],
    ['a malformed type', { type: 'a b' }, 'INVALID_ARGUMENT', 'type'],
    ['an unknown property', { delay: 1 }, 'INVALID_ARGUMENT', 'change'],
    ['text instead of an object', 'paid', 'INVALID_ARGUMENT', 'change'],
    ['a payload that is too large', { payload: 'x'.repeat(300_000) }, 'PAYLOAD_TOO_LARGE', 'maxPayloadBytes'],
  ])('is refused without writing anything if it is invalid: %s', async (_what, change, code, words) => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp();
    const { dueAt } = await producer.offer(queue, 1, '1h', { id: 'a' });
    const made = producer.reschedule(queue, 'a', 0, change as object);
    await expect(made).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
    expect(await producer.find(queue, 'a')).toMatchObject({ payload: 1, dueAt });
  });

  test.each([
    [{ maxWait: '1s' }],
    [{ maxWait: '1s', id: 'a' }],
    [{ maxWait: '1s', onDuplicate: 'replace' }],
    [{ maxWait: 0, id: 'a', onDuplicate: 'replace' }],
    [{ maxWait: 'soon', id: 'a', onDuplicate: 'replace' }],
  ])('made by an offer is refused if maxWait is invalid: %j', async (options) => {
    const { producer } = await scene.startApp();
    const offered = producer.offer(scene.newQueue(), 1, 0, options as object);
    await expect(offered).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('maxWait'),
    });
  });

  test('to a message of a typed queue is validated like an offer', async () => {
    class Typed extends DelayQueue(scene.newQueue(), { paid: z.object({ by: z.string() }), late: payload<null>() }) {}
    class Kind extends DelayQueue(scene.newQueue(), z.object({ n: z.number() })) {}
    const { context } = await scene.startApp({ providers: [Typed, Kind] });
    const [typed, kind] = [context.get(Typed), context.get(Kind)];
    await typed.offer('late', null, '1h', { id: 'a' });
    expect(await typed.reschedule('a', '1h', { type: 'paid', payload: { by: 'card' } })).toBe(true);
    expect(await typed.find('a')).toMatchObject({ type: 'paid', payload: { by: 'card' } });
    const wrong = { type: 'paid', payload: { by: 1 } } as unknown as { type: 'paid'; payload: { by: string } };
    await expect(typed.reschedule('a', 0, wrong)).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' });
    const untyped = { type: 'late' } as unknown as { headers: object };
    await expect(typed.reschedule('a', 0, untyped as object)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await kind.offer({ n: 1 }, '1h', { id: 'a' });
    expect(await kind.reschedule('a', '1h', { payload: { n: 2 }, headers: { h: '1' } })).toBe(true);
    expect(await kind.find('a')).toMatchObject({ payload: { n: 2 }, headers: { h: '1' } });
    const none = { payload: { n: 'x' } } as unknown as { payload: { n: number } };
    await expect(kind.reschedule('a', 0, none)).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' });
  });
});
