import { describe, expect, test } from '@jest/globals';
import { hostname } from 'node:os';
import { calendar } from '../../lib/calendar/index.js';
import { encryption } from '../../lib/encryption/index.js';
import {
  again,
  DelayQueue,
  EncryptedPayload,
  type HandledMessage,
  payload,
  type QueueOptions,
  RejectMessage,
} from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { STORES } from '../support/stores.js';
import { refusalOf } from '../support/refusal.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const HISTORY = { for: '1h', payloads: true } as const;

describe.each(STORES)('the history of a queue in $store with partitions: $partitions', ({ store, partitions }) => {
  const scene = new Scene();

  async function start(
    handle: (given: never, message: { id: string; attempt: number }) => unknown,
    more: QueueOptions = {},
  ) {
    const queue = scene.newQueue();
    const queues = {
      [queue]: { partitions, history: HISTORY, backoff: { type: 'fixed', delay: 1 }, ...more },
    } as const;
    const { producer } = await scene.startApp({
      module: { store, queues, calendar },
      providers: [handlerOf(queue, handle)],
    });
    const listed = async () => (await producer.list(queue, 'handled')).messages;
    return { queue, producer, listed };
  }

  test('shows when, how late, how long and by whom a message was handled, with which attempt', async () => {
    const { queue, producer, listed } = await start(async (_, { attempt }) => {
      if (attempt === 1) throw new Error('once');
      await new Promise((resolve) => setTimeout(resolve, 30));
    });
    const { dueAt } = await producer.offer(queue, { a: 1 }, 5, { id: 'm', type: 'mail', headers: { h: '1' } });
    await until(async () => (await listed()).length === 1);
    const [message] = (await listed()) as [HandledMessage];
    expect(message).toEqual({
      ...{ id: 'm', queue, state: 'handled', type: 'mail', payload: { a: 1 }, headers: { h: '1' }, attempt: 2 },
      ...{ dueAt: expect.any(Date), offeredAt: expect.any(Date), handledAt: expect.any(Date) },
      ...{ lateness: expect.any(Number), took: expect.any(Number) },
      worker: { id: expect.any(String), host: hostname(), pid: process.pid },
    });
    expect(message.dueAt.getTime()).toBeGreaterThan(dueAt.getTime());
    expect(message.handledAt.getTime()).toBeGreaterThanOrEqual(message.dueAt.getTime() + 29);
    expect(message.took).toBeGreaterThanOrEqual(29);
    expect(message.lateness).toBeGreaterThanOrEqual(0);
    expect(await producer.find(queue, 'm')).toBeNull();
    expect(await producer.find(queue, 'm', { handled: true })).toEqual(message);
    await until(async () => (await producer.workers()).workers.some(({ id }) => id === message.worker.id));
  });

  test('has each handled message once, newest first, and those that were not handled never', async () => {
    const { queue, producer, listed } = await start(
      (given: string) => {
        if (given === 'reject') throw new RejectMessage('no');
        return given === 'again' ? again('1h') : undefined;
      },
      { attempts: 1 },
    );
    await producer.offerMany(
      queue,
      ['again', 'reject'].map((each) => ({ payload: each, delay: 0, id: each })),
    );
    await producer.offer(queue, 'expired', 0, { id: 'expired', expiresAfter: 0 });
    for (const id of ['a', 'b', 'c']) {
      await producer.offer(queue, id, 0, { id });
      await until(async () => (await listed())[0]?.id === id);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await until(async () => (await producer.counts(queue)).dead === 1);
    const ids = (await listed()).map(({ id }) => id).filter((id) => id !== 'expired');
    expect(ids).toEqual(['c', 'b', 'a']);
    const first = await producer.list(queue, 'handled', { limit: 1 });
    const rest = await producer.list(queue, 'handled', { cursor: first.cursor! });
    expect([...first.messages, ...rest.messages].map(({ id }) => id).slice(0, 3)).toEqual(['c', 'b', 'a']);

    const waiting = await producer.find(queue, 'again', { handled: true });
    expect(waiting?.state).toBe('delayed');
    expect(await producer.deadLetters(queue).discardAll()).toBe(1);
    expect(await listed()).toHaveLength(rest.messages.length + 1);
    await producer.clear(queue);
    expect(await listed()).toEqual([]);
  });

  test('keeps each occurrence of a repeating message', async () => {
    const { queue, producer, listed } = await start(() => undefined);
    await producer.repeat(queue, 'tick', { cron: '* * * * * *' }, {});
    await until(async () => (await listed()).length === 2);
    const ids = (await listed()).map(({ id }) => id);
    for (const id of ids) expect(id).toMatch(/^\{tick\}@\d{4}-\d\d-\d\dT/);
    expect(await producer.find(queue, ids[1]!, { handled: true })).toMatchObject({ id: ids[1], state: 'handled' });
  });

  test('has the messages of a batch and of groups, without payloads unless they are asked for', async () => {
    const queue = scene.newQueue();
    const history = { for: '1h' } as const;
    const { producer } = await scene.startApp({
      module: { store, queues: { [queue]: { partitions, history, groups: { concurrency: 2 } } } },
      providers: [handlerOf(queue, () => undefined, { batch: 3 } as QueueOptions)],
    });
    const offers = ['a', 'b', 'c', 'd'].map((id) => ({ payload: id, delay: 0, id, ...(id < 'c' && { group: 'g' }) }));
    await producer.offerMany(queue, offers);
    await until(async () => (await producer.list(queue, 'handled')).messages.length === 4);
    const { messages } = await producer.list(queue, 'handled');
    expect(messages.map(({ id, group }) => [id, group]).sort()).toEqual([['a', 'g'], ['b', 'g'], ['c', undefined], ['d', undefined]]); // prettier-ignore
    for (const message of messages) expect(message).not.toHaveProperty('payload');
    expect(await producer.find(queue, 'a', { handled: true })).toMatchObject({ group: 'g' });
  });
});

describe('the history of a queue', () => {
  const scene = new Scene();

  test('is off by default: nothing is called and nothing is stored', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ providers: [handlerOf(queue, () => undefined)] });
    await producer.offer(queue, {}, 0, { id: 'm' });
    await until(async () => (await producer.find(queue, 'm')) === null);
    expect(await producer.list(queue, 'handled')).toEqual({ messages: [], cursor: null });
    expect(await scene.redis.exists(scene.key(queue, 'handled'), scene.key(queue, 'history'))).toBe(0);
  });

  test('expires with its last entry', async () => {
    const queue = scene.newQueue();
    const queues = { [queue]: { history: { for: '1s' } } } as const;
    const { producer } = await scene.startApp({ module: { queues }, providers: [handlerOf(queue, () => undefined)] });
    await producer.offer(queue, {}, 0);
    await until(async () => (await producer.list(queue, 'handled')).messages.length === 1);
    await until(async () => (await scene.redis.keys(`*${queue}*hand*`)).length === 0);
    expect(await producer.list(queue, 'handled')).toEqual({ messages: [], cursor: null });
  });

  test('is typed, and readable in a process without the option', async () => {
    class Mails extends DelayQueue('mails', {
      welcome: payload<{ to: string }>(),
      bye: payload<{ reason: string }>(),
    }) {}
    const { context } = await scene.startApp({
      module: { queues: { mails: { history: HISTORY } } },
      providers: [Mails, handlerOf('mails', () => undefined)],
    });
    const mails = context.get(Mails);
    await mails.offer('welcome', { to: 'ada' }, 0, { id: 'm' });
    await until(async () => (await mails.list('handled')).messages.length === 1);
    const found = await mails.find('m', { handled: true });
    if (found?.state !== 'handled' || found.type !== 'welcome') throw new Error('It was handled.');
    const to: string | undefined = found.payload?.to;
    expect(to).toBe('ada');
    const other = await scene.startApp({ module: { consume: false } });
    expect(await other.producer.find('mails', 'm', { handled: true })).toEqual(found);
  });

  test('is refused by a layout that cannot have one, and so are wrong arguments', async () => {
    const queue = scene.newQueue();
    const layout = redisson();
    const start = (queues: Record<string, QueueOptions>) => scene.startApp({ module: { consume: false, queues } });
    await expect(start({ [queue]: { layout, history: HISTORY } })).rejects.toThrow(
      /history must be 'off' with layout 'redisson'/,
    );
    const { producer } = await start({ [queue]: { layout } });
    expect(await refusalOf(producer.list(queue, 'handled'))).toMatchObject({
      code: 'UNSUPPORTED_BY_LAYOUT',
      message: expect.stringContaining(`list('${queue}', 'handled'): layout 'redisson'`) as unknown,
    });
    expect(await refusalOf(producer.find(queue, 'm', { handled: true }))).toMatchObject({
      code: 'UNSUPPORTED_BY_LAYOUT',
    });
    for (const options of [{ handled: 1 }, { handeld: true }, 1]) {
      expect(await refusalOf(producer.find(queue, 'm', options as never))).toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
  });

  test('keeps an encrypted payload encrypted, and shows it with the keys alone', async () => {
    const queue = scene.newQueue();
    const keys = encryption({ current: 'k1', keys: { k1: Buffer.alloc(32, 7) } });
    const { producer } = await scene.startApp({
      module: { queues: { [queue]: { history: HISTORY, encryption: keys } } },
      providers: [handlerOf(queue, () => undefined)],
    });
    const offered = { id: 'm', headers: { h: '1' }, attempts: 3, backoff: { type: 'fixed', delay: '1m' } } as const;
    await producer.offer(queue, 'secret', 0, offered);
    await until(async () => (await producer.list(queue, 'handled')).messages.length === 1);
    const found = await producer.find(queue, 'm', { handled: true });
    const own = { attempts: 3, backoff: { type: 'fixed', delay: 60_000, jitter: 0 } };
    expect(found).toMatchObject({ payload: 'secret', headers: { h: '1' }, ...own });
    expect(String(await scene.redis.hget(scene.key(queue, 'history'), 'm'))).not.toContain('secret');

    const blind = await scene.startApp({ module: { consume: false } });
    const shown = await blind.producer.find(queue, 'm', { handled: true });
    expect(shown).toMatchObject({ state: 'handled', headers: {}, ...own });
    expect(shown!.payload).toBeInstanceOf(EncryptedPayload);
    expect((await blind.producer.list(queue, 'handled')).messages[0]!.payload).toBeInstanceOf(EncryptedPayload);
  });

  test('says which states there are', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    expect(await refusalOf(producer.list(queue, 'handeld' as never))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining("delayed, ready, active, dead, handled, not 'handeld'") as unknown,
    });
    expect(await refusalOf(producer.search(queue, { state: 'handled' as never }))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining("dead, not 'handled': handled messages can be listed and found") as unknown,
    });
  });

  test('does not hold up the outcomes if Redis refuses it', async () => {
    const queue = scene.newQueue();
    const queues = { [queue]: { history: HISTORY } };
    await scene.redis.set(scene.key(queue, 'history'), 'of another type');
    const { producer, log } = await scene.startApp({
      module: { queues },
      providers: [handlerOf(queue, () => undefined)],
    });
    await producer.offer(queue, {}, 0, { id: 'm' });
    await until(async () => (await producer.find(queue, 'm')) === null);
    expect(await producer.counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
    await until(() => log.some((line) => line.includes(`refuses to remember handled messages of queue '${queue}'`)));
  });
});
