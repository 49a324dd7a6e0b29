import { describe, expect, test } from '@jest/globals';
import { calendar } from '../../lib/calendar/index.js';
import { again, DelayQueue, payload, type QueueOptions, RejectMessage } from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { refusalOf } from '../support/refusal.js';
import { Scene } from '../support/scene.js';
import { STORES } from '../support/stores.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const IDS = { for: '1h' } as const;

describe.each(STORES)('a queue that keeps ids in $store with partitions: $partitions', ({ store, partitions }) => {
  const scene = new Scene();

  async function start(handle: (given: string) => unknown = () => undefined, more: QueueOptions = {}) {
    const queue = scene.newQueue();
    const given: string[] = [];
    const queues = { [queue]: { partitions, idsFor: IDS, attempts: 1, ...more } };
    const { producer } = await scene.startApp({
      module: { store, queues, calendar },
      providers: [
        handlerOf(queue, (each: string) => {
          given.push(each);
          return handle(each);
        }),
      ],
    });
    const isGone = async (id: string) => (await producer.find(queue, id)) === null;
    const handleOne = async (id: string) => {
      expect(await producer.offer(queue, id, 0, { id })).toMatchObject({ created: true });
      await until(() => isGone(id));
    };
    return { queue, producer, given, handleOne, isGone };
  }

  test('ignores an offer with the id of a handled message, and says when that was handled', async () => {
    const { queue, producer, given, handleOne } = await start();
    await handleOne('m');
    const result = await producer.offer(queue, 'again', 0, { id: 'm' });
    expect(result).toEqual({ id: 'm', created: false, dueAt: expect.any(Date), handledAt: expect.any(Date) });
    expect(result.dueAt).toEqual(result.handledAt);
    expect(await producer.offer(queue, 'again', 0, { id: 'm', onDuplicate: 'replace' })).toEqual(result);
    expect(await producer.offer(queue, 'x', 0, { id: 'm', onDuplicate: 'replace', maxWait: '1m' })).toEqual(result);
    expect(await producer.offerMany(queue, [{ payload: 'x', delay: 0, id: 'm' }])).toEqual([result]);
    expect(await producer.repeat(queue, 'm', { cron: '* * * * * *' }, 'x')).toEqual(result);
    expect(await producer.find(queue, 'm')).toBeNull();
    await handleOne('other');
    expect(given).toEqual(['m', 'other']);
  });

  test('rejects it as a duplicate if asked to, and no message can follow a handled one', async () => {
    const { queue, producer, handleOne } = await start();
    await handleOne('m');
    expect(await refusalOf(producer.offer(queue, 'x', 0, { id: 'm', onDuplicate: 'reject' }))).toMatchObject({
      code: 'DUPLICATE_MESSAGE',
      messageId: 'm',
      message: expect.stringContaining(`Queue '${queue}' has already handled a message 'm', at 20`) as unknown,
    });
    expect(await refusalOf(producer.offer(queue, 'x', 0, { id: 'n', onDuplicate: 'follow' }))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(`onDuplicate: 'follow': queue '${queue}' keeps the ids`) as unknown,
    });
  });

  test('keeps no id of a message that was not handled, or comes again', async () => {
    const { queue, producer, isGone } = await start((given) => {
      if (given === 'rejected') throw new RejectMessage('no');
      return given === 'again' ? again('1h') : undefined;
    });
    for (const id of ['rejected', 'again']) await producer.offer(queue, id, 0, { id });
    await producer.offer(queue, 'cancelled', '1h', { id: 'cancelled' });
    await until(async () => (await producer.find(queue, 'rejected'))?.state === 'dead');
    await until(async () => (await producer.find(queue, 'again'))?.state === 'delayed');
    await producer.pause(queue);
    const { dueAt } = await producer.offer(queue, 'expired', 0, { id: 'expired', expiresAfter: 1 });
    await until(() => Date.now() > dueAt.getTime() + 10);
    await producer.resume(queue);
    await until(() => isGone('expired'));
    expect(await producer.cancel(queue, 'cancelled')).toBe(true);
    expect(await producer.deadLetters(queue).discardAll()).toBe(1);
    expect(await producer.cancel(queue, 'again')).toBe(true);
    for (const id of ['rejected', 'again', 'expired', 'cancelled']) {
      expect(await producer.offer(queue, 'x', '1h', { id })).toMatchObject({ created: true });
    }
  });

  test('frees an id by hand, and leaves it kept when the queue is cleared', async () => {
    const { queue, producer, given, handleOne, isGone } = await start();
    await handleOne('m');
    await producer.clear(queue);
    expect(await producer.offer(queue, 'x', 0, { id: 'm' })).toMatchObject({ created: false });
    expect(await producer.freeId(queue, 'never')).toBe(false);
    expect(await producer.freeId(queue, 'm')).toBe(true);
    expect(await producer.freeId(queue, 'm')).toBe(false);
    expect(await producer.offer(queue, 'once more', 0, { id: 'm' })).toMatchObject({ created: true });
    await until(() => isGone('m'));
    expect(given).toEqual(['m', 'once more']);
  });

  test('frees the ids of messages with and without a group', async () => {
    const { queue, producer, isGone } = await start(undefined, { groups: {} });
    await producer.offer(queue, 'plain', 0, { id: 'm' });
    await until(() => isGone('m'));
    await producer.offer(queue, 'grouped', 0, { id: 'm', group: 'g' });
    await until(() => isGone('m'));
    expect(await producer.offer(queue, 'x', 0, { id: 'm', group: 'g' })).toMatchObject({ created: false });
    expect(await producer.freeId(queue, 'm')).toBe(true);
    for (const more of [{}, { group: 'g' }]) {
      expect(await producer.offer(queue, 'x', '1h', { id: 'm', ...more })).toMatchObject({ created: true });
    }
  });

  test('keeps the id of a dead letter that was redriven and handled', async () => {
    let isBroken = true;
    const { queue, producer, isGone } = await start(() => {
      if (isBroken) throw new RejectMessage('no');
    });
    await producer.offer(queue, 'm', 0, { id: 'm' });
    await until(async () => (await producer.find(queue, 'm'))?.state === 'dead');
    isBroken = false;
    expect(await producer.deadLetters(queue).redrive('m')).toBe(true);
    await until(() => isGone('m'));
    expect(await producer.offer(queue, 'x', 0, { id: 'm' })).toMatchObject({ created: false });
  });

  test('reports ids that were dropped because there were too many', async () => {
    const queue = scene.newQueue();
    const idsFor = { for: '1h', max: partitions } as const;
    const { producer, log } = await scene.startApp({
      module: { store, queues: { [queue]: { partitions, idsFor } } },
      providers: [handlerOf(queue, () => undefined)],
    });
    const ids = Array.from({ length: 4 * partitions }, (_, i) => `{same}${i}`);
    for (const id of ids) {
      await producer.offer(queue, id, 0, { id });
      await until(async () => (await producer.find(queue, id)) === null);
    }
    await until(() => log.some((line) => line.includes(`${queue}: 1 kept ids were dropped before their time`)));
    expect(log.filter((line) => line.includes('kept ids were dropped'))).toHaveLength(1);
    expect(await producer.offer(queue, 'x', '1h', { id: ids.at(-1)! })).toMatchObject({ created: false });
    expect(await producer.offer(queue, 'x', '1h', { id: ids[0]! })).toMatchObject({ created: true });
  });
});

describe('kept ids', () => {
  const scene = new Scene();

  test('are off by default: an id is free once its message is gone, and nothing is stored', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ providers: [handlerOf(queue, () => undefined)] });
    for (let round = 0; round < 2; round++) {
      expect(await producer.offer(queue, {}, 0, { id: 'm' })).toMatchObject({ created: true });
      await until(async () => (await producer.find(queue, 'm')) === null);
    }
    expect(await scene.redis.exists(scene.key(queue, 'kept'))).toBe(0);
    expect(await refusalOf(producer.freeId(queue, 'm'))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(
        `freeId: queue '${queue}' keeps no ids; set queues['${queue}'].idsFor`,
      ) as unknown,
    });
  });

  test('expire with the last one', async () => {
    const queue = scene.newQueue();
    const queues = { [queue]: { idsFor: { for: '1s' } } } as const;
    const { producer } = await scene.startApp({ module: { queues }, providers: [handlerOf(queue, () => undefined)] });
    await producer.offer(queue, {}, 0, { id: 'm' });
    await until(async () => (await scene.redis.exists(scene.key(queue, 'kept'))) === 1);
    await until(async () => (await scene.redis.exists(scene.key(queue, 'kept'))) === 0);
    expect(await producer.offer(queue, {}, '1h', { id: 'm' })).toMatchObject({ created: true });
  });

  test('are kept and found by scripts, too, on a server without functions', async () => {
    const queue = scene.newQueue();
    const module = { scripting: 'scripts', queues: { [queue]: { idsFor: IDS, groups: {} } } } as const;
    const { producer } = await scene.startApp({ module, providers: [handlerOf(queue, () => undefined)] });
    for (const more of [{}, { group: 'g' }]) {
      await producer.offer(queue, {}, 0, { id: 'm', ...more });
      await until(async () => (await producer.find(queue, 'm')) === null);
      expect(await producer.offer(queue, {}, 0, { id: 'm', ...more })).toMatchObject({ created: false });
      const [, other] = await producer.offerMany(queue, [
        { payload: 1, delay: 0, id: 'm', ...more },
        { payload: 1, delay: '1h', id: 'n', onDuplicate: 'replace', ...more },
      ]);
      expect(other).toMatchObject({ created: true });
    }
    expect(await producer.freeId(queue, 'm')).toBe(true);
  });

  test('are found wherever a former number of partitions has put them', async () => {
    const queue = scene.newQueue();
    const ids = Array.from({ length: 12 }, (_, i) => `m${i}`);
    const start = (partitions: number) =>
      scene.startApp({
        module: { queues: { [queue]: { partitions, idsFor: IDS } } },
        providers: [handlerOf(queue, () => undefined)],
      });
    const first = await start(1);
    await first.producer.offerMany(
      queue,
      ids.map((id) => ({ payload: id, delay: 0, id })),
    );
    await until(async () => (await first.producer.find(queue, ids.at(-1)!)) === null);
    await until(async () => (await scene.redis.zcard(scene.key(queue, 'kept'))) === ids.length);
    // One that knew the former number, and one that starts when there is no message.
    for (const partitions of [4, 4, 2]) {
      const { producer } = await start(partitions);
      for (const each of [producer, first.producer]) {
        const results = await each.offerMany(
          queue,
          ids.map((id) => ({ payload: id, delay: 0, id })),
        );
        expect(results.filter(({ created }) => created)).toEqual([]);
      }
      expect(await producer.freeId(queue, ids[0]!)).toBe(true);
      expect(await producer.offer(queue, 'x', '1h', { id: ids[0]! })).toMatchObject({ created: true });
      expect(await producer.cancel(queue, ids.shift()!)).toBe(true);
    }
  });

  test('go for typed queues and for the queues of a family', async () => {
    const name = scene.newQueue();
    class Mails extends DelayQueue(name, { welcome: payload<{ to: string }>() }) {}
    const family = scene.newQueue();
    const { context, producer } = await scene.startApp({
      module: { queues: { [name]: { idsFor: IDS }, [`${family}-*`]: { idsFor: IDS } } },
      providers: [Mails, handlerOf(name, () => undefined), handlerOf(`${family}-*`, () => undefined)],
    });
    const mails = context.get(Mails);
    await mails.offer('welcome', { to: 'ada' }, 0, { id: 'm' });
    await until(async () => (await mails.find('m')) === null);
    expect(await mails.offer('welcome', { to: 'ada' }, 0, { id: 'm' })).toMatchObject({ created: false });
    expect(await mails.freeId('m')).toBe(true);
    await producer.offer(`${family}-1`, {}, 0, { id: 'm' });
    await until(async () => (await producer.find(`${family}-1`, 'm')) === null);
    expect(await producer.offer(`${family}-1`, {}, 0, { id: 'm' })).toMatchObject({ created: false });
    expect(await producer.offer(`${family}-2`, {}, '1h', { id: 'm' })).toMatchObject({ created: true });
  });

  test('are refused by a layout that cannot have any', async () => {
    const queue = scene.newQueue();
    const start = (options: QueueOptions) =>
      scene.startApp({ module: { consume: false, queues: { [queue]: { layout: redisson(), ...options } } } });
    await expect(start({ idsFor: IDS })).rejects.toThrow(/idsFor must be 'off' with layout 'redisson'/);
    const { producer } = await start({});
    expect(await refusalOf(producer.freeId(queue, 'm'))).toMatchObject({ code: 'UNSUPPORTED_BY_LAYOUT' });
  });

  test('hold up the outcome if Redis cannot keep the id, so that no handled message is forgotten', async () => {
    const queue = scene.newQueue();
    await scene.redis.set(scene.key(queue, 'kept'), 'of another type');
    const queues = { [queue]: { idsFor: IDS } };
    const { producer, log } = await scene.startApp({
      module: { queues },
      providers: [handlerOf(queue, () => undefined)],
    });
    // The first offer with an id looks among the kept ones.
    expect(await refusalOf(producer.offer(queue, {}, 0, { id: 'm' }))).toMatchObject({ code: 'STORE_REFUSED' });
    const { id } = await producer.offer(queue, {}, 0);
    await until(() => log.some((line) => line.includes('settle') && line.includes('WRONGTYPE')));
    expect((await producer.find(queue, id))?.state).toBe('active');
    await scene.redis.del(scene.key(queue, 'kept'));
    await until(async () => (await producer.find(queue, id)) === null);
    expect(await producer.offer(queue, {}, 0, { id })).toMatchObject({ created: false });
  });
});
