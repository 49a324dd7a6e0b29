import { describe, expect, test } from '@jest/globals';
import { Injectable, type Type } from '@nestjs/common';
import { DelayedHandler, type DelayedMessage, type DelayQueueModuleOptions } from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** A provider with a handler of one type. */
function handlerOfType(queue: string, type: string, handle: Handled['record']): Type {
  @Injectable()
  class TypedHandler {
    @DelayedHandler(queue, type)
    handleType(payload: unknown, message: DelayedMessage): unknown {
      return handle(payload, message);
    }
  }
  return TypedHandler;
}

const STORES: [string, DelayQueueModuleOptions][] = [
  ['native', {}],
  ['memory', { store: 'memory' }],
];

const byQueue = ({ calls }: Handled) => calls.map(({ id, message }) => [message.queue, id]).sort();

describe.each(STORES)('a handler for a family of queues, on %s', (_, module) => {
  const scene = new Scene();

  test("gets the messages of the queues with the family's prefix, and of no others", async () => {
    const [name, other] = [scene.newQueue(), scene.newQueue()];
    const handled = new Handled();
    const { producer } = await scene.startApp({ module, providers: [handlerOf(`${name}-*`, handled.record)] });
    await producer.offer(`${name}-1`, 'a', 0, { id: 'a' });
    await producer.offer(`${name}-2`, 'b', 30, { id: 'b' });
    await producer.offer(`${name}-`, 'c', 0, { id: 'c' });
    await producer.offer(other, 'd', 0, { id: 'd' });
    await producer.offer(name, 'e', 0, { id: 'e' });
    await handled.untilCalls(3);
    expect(byQueue(handled)).toEqual([
      [`${name}-`, 'c'],
      [`${name}-1`, 'a'],
      [`${name}-2`, 'b'],
    ]);
    for (const { late } of handled.calls) expect(late).toBeGreaterThanOrEqual(0);
    expect(await producer.counts(other)).toMatchObject({ active: 0, dead: 0 });
  });

  test('is aborted before the time for a shutdown is over', async () => {
    const name = scene.newQueue();
    const reasons: unknown[] = [];
    let isRunning = false;
    const untilAborted = (_payload: unknown, { signal }: DelayedMessage) => {
      isRunning = true;
      return new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reasons.push(signal.reason);
          reject(signal.reason as Error);
        });
      });
    };
    const app = await scene.startApp({
      module: { ...module, shutdownTimeout: '1s' },
      providers: [handlerOf(`${name}-*`, untilAborted)],
    });
    await app.producer.offer(`${name}-1`, 'a', 0);
    await until(() => isRunning);
    await app.close();
    expect(reasons).toEqual([expect.any(Error)]);
  });

  test('gets messages that fall due later, and their retries', async () => {
    const name = scene.newQueue();
    const handled = new Handled();
    const handle: Handled['record'] = (payload, message) => {
      handled.record(payload, message);
      if (message.attempt === 1) throw new Error('no');
    };
    const options = { backoff: { type: 'fixed', delay: 50 } as const };
    const { producer } = await scene.startApp({ module, providers: [handlerOf(`${name}-*`, handle, options)] });
    for (let i = 0; i < 20; i++) await producer.offer(`${name}-${i}`, i, 10 * i, { id: `m${i}` });
    await handled.untilCalls(40);
    expect(handled.calls.map(({ attempt }) => attempt).filter((attempt) => attempt === 2)).toHaveLength(20);
    for (let i = 0; i < 20; i++) expect(handled.of(`m${i}`)).toHaveLength(2);
    for (const { late } of handled.calls) expect(late).toBeGreaterThanOrEqual(0);
  });

  test('gets messages with groups soon after they are due', async () => {
    const name = scene.newQueue();
    const handled = new Handled();
    const options = { groups: { concurrency: 1 } };
    const queues = { [`${name}-*`]: options };
    const { producer } = await scene.startApp({
      module: { ...module, queues },
      providers: [handlerOf(`${name}-*`, handled.record)],
    });
    await producer.offer(`${name}-0`, 'first', 0, { id: 'first' });
    await handled.untilCalls(1);
    // They are new, so the family learns of them from announcements.
    for (const queue of [`${name}-1`, `${name}-2`]) {
      await producer.offer(queue, 'later', 300, { id: 'later', group: 'one' });
      await producer.offer(queue, 'now', 0, { id: 'now', group: 'one' });
    }
    await handled.untilCalls(5);
    expect(byQueue(handled).slice(1)).toEqual(
      [`${name}-1`, `${name}-2`].flatMap((queue) => ['later', 'now'].map((id) => [queue, id])),
    );
    for (const { late } of handled.calls) expect(late).toBeLessThan(10_000);
  });

  test('gets messages with groups even if only one of its queues has groups', async () => {
    const name = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({
      module: { ...module, queues: { [`${name}-big`]: { groups: { concurrency: 1 } } } },
      providers: [handlerOf(`${name}-*`, handled.record)],
    });
    await producer.offer(`${name}-small`, 'first', 0, { id: 'first' });
    await handled.untilCalls(1);
    await producer.offer(`${name}-big`, 'now', 0, { id: 'now', group: 'one' });
    await handled.untilCalls(2);
    expect(byQueue(handled)).toEqual([
      [`${name}-big`, 'now'],
      [`${name}-small`, 'first'],
    ]);
  });

  test('leaves a queue to the handler of its name, or to that of the family with the longest prefix', async () => {
    const name = scene.newQueue();
    const [all, some, own, remind] = [new Handled(), new Handled(), new Handled(), new Handled()];
    const { producer } = await scene.startApp({
      module,
      providers: [
        handlerOf(`${name}-*`, all.record),
        handlerOfType(`${name}-*`, 'remind', remind.record),
        handlerOf(`${name}-some-*`, some.record),
        handlerOf(`${name}-some-1`, own.record),
      ],
    });
    const queues = [`${name}-1`, `${name}-some-1`, `${name}-some-2`];
    for (const queue of queues) {
      await producer.offer(queue, null, 0, { id: 'a' });
      await producer.offer(queue, null, 0, { id: 'b', type: 'remind' });
    }
    await until(() => [all, some, own, remind].reduce((sum, { calls }) => sum + calls.length, 0) === 6);
    expect([all, remind, own, some].map(byQueue)).toEqual([
      [[queues[0], 'a']],
      [[queues[0], 'b']],
      [queues[1]!].flatMap((queue) => [
        [queue, 'a'],
        [queue, 'b'],
      ]),
      [queues[2]!].flatMap((queue) => [
        [queue, 'a'],
        [queue, 'b'],
      ]),
    ]);
  });

  test("gets options from its decorator, overridden by the family's entry in `queues` and then by the queue's own", async () => {
    const name = scene.newQueue();
    const handled = new Handled();
    const fail: Handled['record'] = (payload, message) => {
      handled.record(payload, message);
      throw new Error('no');
    };
    const options = { attempts: 3, backoff: { type: 'fixed', delay: 0 } as const };
    const queues = { [`${name}-b*`]: { attempts: 2 }, [`${name}-b1`]: { attempts: 1 } };
    const providers = [handlerOf(`${name}-*`, fail, options)];
    const { producer } = await scene.startApp({ module: { ...module, queues }, providers });
    const names = ['a', 'b', 'b1'].map((end) => `${name}-${end}`);
    for (const queue of names) await producer.offer(queue, null, 0, { id: 'm' });
    await until(async () => {
      const counts = await Promise.all(names.map((queue) => producer.counts(queue)));
      return counts.every(({ dead }) => dead === 1);
    });
    const attempts = names.map((queue) => handled.calls.filter(({ message }) => message.queue === queue).length);
    expect(attempts).toEqual([3, 2, 1]);
  });

  test('gets a redriven dead letter after its queue has become idle', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    let fails = true;
    const handle: Handled['record'] = (payload, message) => {
      handled.record(payload, message);
      if (fails) throw new Error('no');
    };
    const { producer } = await scene.startApp({ module, providers: [handlerOf(`${queue}*`, handle, { attempts: 1 })] });
    await producer.offer(queue, null, 0, { id: 'm' });
    await until(async () => (await producer.counts(queue)).dead === 1);
    fails = false;
    expect(await producer.deadLetters(queue).redriveAll()).toBe(1);
    await handled.untilCalls(2);
  });

  test('handles no messages of a paused queue until the queue is resumed', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ module, providers: [handlerOf(`${queue}*`, handled.record)] });
    await producer.pause(queue);
    await producer.offer(queue, null, 0, { id: 'm' });
    await until(async () => (await producer.counts(queue)).ready === 1);
    expect(handled.calls).toEqual([]);
    await producer.resume(queue);
    await handled.untilCalls(1);
  });

  test('is logged once at startup, not once per queue', async () => {
    const name = scene.newQueue();
    const handled = new Handled();
    const { producer, log } = await scene.startApp({ module, providers: [handlerOf(`${name}-*`, handled.record)] });
    for (let i = 0; i < 5; i++) await producer.offer(`${name}-${i}`, null, 0);
    await handled.untilCalls(5);
    expect(log.filter((line) => line.includes(name))).toEqual([
      `log Handling queues '${name}-*' with TestHandler.handle`,
    ]);
  });

  test('may finish its running calls when the application stops', async () => {
    const name = scene.newQueue();
    const handled = new Handled();
    let finish = () => undefined as void;
    const running = new Promise<void>((resolve) => (finish = resolve));
    const handle = (payload: unknown, message: DelayedMessage) => {
      handled.record(payload, message);
      return running;
    };
    const app = await scene.startApp({ module, providers: [handlerOf(`${name}-*`, handle)] });
    for (const queue of [`${name}-1`, `${name}-2`]) await app.producer.offer(queue, null, 0);
    await handled.untilCalls(2);
    const closed = app.close();
    finish();
    await closed;
    expect(handled.calls.every(({ message }) => !message.signal.aborted)).toBe(true);
    expect(app.log.filter((line) => line.includes('not settled'))).toEqual([]);
  });

  test("is refused for '*', for a misplaced star, and for a family that already has a handler", async () => {
    const start = (...names: string[]) =>
      scene.startApp({ module, providers: names.map((name) => handlerOf(name, () => undefined)) });
    const name = scene.newQueue();
    for (const bad of ['*', `*-${name}`, `${name}-*-x`, `${name}**`, `${'x'.repeat(128)}*`]) {
      await expect(start(bad)).rejects.toMatchObject({ code: 'INVALID_HANDLER' });
    }
    await expect(start('*')).rejects.toThrow('it would also take the messages of other applications');
    await expect(start(`${name}-*`, `${name}-*`)).rejects.toThrow('has two handlers');
  });

  test("is refused if the family, the defaults or one of its queues has layout 'redisson'", async () => {
    const name = scene.newQueue();
    const family = handlerOf(`${name}-*`, () => undefined);
    const layout = { layout: redisson() };
    const start = (options: DelayQueueModuleOptions, ...providers: Type[]) =>
      scene.startApp({ module: { ...module, ...options }, providers });
    const refused = {
      code: 'INVALID_HANDLER',
      message: expect.stringContaining('which a family of queues cannot have'),
    };
    await expect(start({ defaults: layout }, family)).rejects.toMatchObject(refused);
    await expect(start({ queues: { [`${name}-*`]: layout } }, family)).rejects.toMatchObject(refused);
    await expect(start({ queues: { [`${name}-7`]: layout } }, family)).rejects.toMatchObject(refused);
    await expect(
      start(
        {},
        handlerOf(`${name}-*`, () => undefined, layout),
      ),
    ).rejects.toMatchObject(refused);
    const own = handlerOf(`${name}-7`, () => undefined);
    await expect(start({ queues: { [`${name}-7`]: layout } }, family, own)).resolves.toBeDefined();
    const shared = { layout: redisson({ name: 'java' }) };
    await expect(start({ queues: { [`${name}-*`]: shared } })).rejects.toThrow('cannot be shared by several queues');
  });
});

describe.each(STORES)('the list of queues, on %s', (_, module) => {
  const scene = new Scene();

  test('contains the names of all queues with offers or a handler, page by page', async () => {
    const { producer } = await scene.startApp({ module, providers: [handlerOf('handled', () => undefined)] });
    const names = Array.from({ length: 250 }, (_, i) => `tenant-${i}`);
    await Promise.all(names.map((name) => producer.offer(name, null, '1h')));
    await until(async () => (await producer.queues({ limit: 1 })).queues[0] === 'handled');
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await producer.queues({ limit: 100, ...(cursor !== undefined && { cursor }) });
      expect(page.queues.length).toBeLessThanOrEqual(100);
      found.push(...page.queues);
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
    expect(found).toEqual([...names, 'handled'].sort());
    expect((await producer.queues()).queues).toEqual(found.slice(0, 100));
  });

  test('is refused with an invalid cursor or limit', async () => {
    const { producer } = await scene.startApp({ module });
    for (const query of [{ cursor: '{' }, { limit: 0 }, { limit: 1001 }, { limit: 1.5 }, { page: 1 }]) {
      await expect(producer.queues(query)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
  });
});

describe.each(STORES)('a queue name with a star, on %s', (_, module) => {
  const scene = new Scene();

  test('is refused in an offer', async () => {
    const { producer } = await scene.startApp({ module });
    await expect(producer.offer('tenant-*', null, 0)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe.each(STORES)('a queue that no process has ever handled, on %s', (_, module) => {
  const scene = new Scene();

  test('causes one warning when messages are offered to it', async () => {
    const [name, other, mine] = [scene.newQueue(), scene.newQueue(), scene.newQueue()];
    const handle = () => undefined;
    const providers = [handlerOf(`${name}-*`, handle), handlerOf(mine, handle)];
    const { producer, log } = await scene.startApp({ module, providers });
    for (const queue of [`${name}-1`, mine, other, other]) await producer.offer(queue, null, 0);
    const warning = `warn ${other}: messages are offered, but no process has ever handled this queue: is its name right?`;
    await until(() => log.includes(warning));
    expect(log.filter((line) => line.includes('has ever handled'))).toEqual([warning]);
  });
});

describe('a queue that only other processes handle', () => {
  const scene = new Scene();

  test('causes no warning, whether they handle it by name or through its family', async () => {
    const [name, other, unhandled] = [scene.newQueue(), scene.newQueue(), scene.newQueue()];
    const handle = () => undefined;
    await scene.startApp({ providers: [handlerOf(`${name}-*`, handle), handlerOf(other, handle)] });
    await until(async () => (await scene.redis.zcard(`${scene.prefix}:{@queues}:handled`)) === 2);
    const { producer, log } = await scene.startApp();
    for (const queue of [`${name}-1`, other, unhandled]) await producer.offer(queue, null, 0);
    await until(() => log.some((line) => line.includes('has ever handled')));
    expect(log.filter((line) => line.includes('has ever handled'))).toMatchObject([expect.stringContaining(unhandled)]);
  });
});
