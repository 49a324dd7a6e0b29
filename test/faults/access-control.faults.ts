import { beforeAll, describe, expect, test } from '@jest/globals';
import { limitsKey } from '../../lib/limits/native-limits.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { partitionPermissions } from '../../lib/store/native/native-layout.js';
import { neededCommands, neededToCall } from '../../lib/redis/check/permissions.js';
import { commandRules, printedRules, rulesFor } from '../support/access-rules.js';
import { Handled } from '../support/handled.js';
import { isEmpty } from '../support/is-empty.js';
import { randomName } from '../support/random-name.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** The rules that the page says can be left out for each way to call functions. */
const WAYS: { way: string; without: string[]; note: unknown[] }[] = [
  { way: 'functions and scripts', without: [], note: [] },
  { way: 'functions only', without: ['+eval', '+evalsha'], note: [] },
  {
    way: 'scripts only',
    without: ['+fcall', '+function|load'],
    note: [expect.stringMatching(/^log Functions are not available in Redis \(NOPERM /)],
  },
];

describe('a Redis user with the documented permissions', () => {
  const scene = new Scene({});
  const rules: Record<string, string[]> = {};

  beforeAll(async () => {
    for (const name of ['worker', 'producer', 'family']) rules[name] = await printedRules('operations.md', name);
  });

  async function urlOf(name: string, userRules: readonly string[]): Promise<string> {
    const user = randomName(name);
    await scene.redis.call('ACL', 'SETUSER', user, 'reset', ...userRules);
    return scene.url.replace('redis://', `redis://${user}:secret@`);
  }

  test.each(WAYS)('can do everything that a worker needs, with $way', async ({ without, note }) => {
    await scene.redis.call('FUNCTION', 'FLUSH');
    const queue = scene.newQueue();
    const handled = new Handled();
    const connection = await urlOf(
      'worker',
      rules.worker!.filter((rule) => !without.includes(rule)),
    );
    const handler = handlerOf<string>(queue, (payload, message) => {
      handled.record(payload, message);
      if (payload === 'fails' && message.attempt === 1) throw new Error('no');
    });
    const { producer, log, close } = await scene.startApp({
      module: { connection, prefix: 'delay-queue', defaults: { backoff: { type: 'fixed', delay: 10 } } },
      providers: [handler],
    });
    await producer.offer(queue, 'works', 20);
    await producer.offer(queue, 'fails', 20);
    await producer.offer(queue, 'early', 10);
    await until(() => isEmpty(producer, queue));
    await producer.clear(queue);
    await close();
    expect(handled.calls).toHaveLength(4);
    expect(log.filter((line) => /NOPERM|permission/.test(line))).toEqual(note);
  });

  test.each(WAYS)('can do everything that a producer needs, with $way', async ({ without, note }) => {
    await scene.redis.call('FUNCTION', 'FLUSH');
    const queue = scene.newQueue();
    const connection = await urlOf(
      'producer',
      rules.producer!.filter((rule) => !without.includes(rule)),
    );
    const { producer, log } = await scene.startApp({ module: { connection, prefix: 'delay-queue', consume: false } });
    await producer.offer(queue, 1, '1h', { id: 'a' });
    await producer.offer(queue, 2, '1h', { id: 'a', onDuplicate: 'replace' });
    await producer.offerMany(queue, [{ payload: 3, delay: '1m' }]);
    expect(await producer.reschedule(queue, 'a', '2h')).toBe(true);
    expect(await producer.find(queue, 'a')).toMatchObject({ payload: 2 });
    expect(await producer.counts(queue)).toMatchObject({ delayed: 2 });
    expect((await producer.countsByType(queue)).get('')).toMatchObject({ delayed: 2 });
    expect(await producer.nextDue(queue)).not.toBeNull();
    expect(await producer.isPaused(queue)).toBe(false);
    expect((await producer.list(queue, 'delayed')).messages).toHaveLength(2);
    for (const state of ['ready', 'active', 'dead'] as const) {
      expect((await producer.list(queue, state)).messages).toEqual([]);
    }
    expect(await producer.cancel(queue, 'a')).toBe(true);
    expect(log.filter((line) => /NOPERM|permission/.test(line))).toEqual(note);
  });

  test.each([
    { rules: 'without partitions and groups', more: [], pauses: [] },
    { rules: 'for partitions', more: ['+set'], pauses: ['queue'] },
    { rules: 'for groups', more: ['+hscan', '+lindex', '+linsert', '+lpop', '+rpush'], pauses: ['group'] },
  ])('lets a producer $rules set limits, pause $pauses, and clear nothing', async ({ more, pauses }) => {
    const queue = scene.newQueue();
    const connection = await urlOf('producer', [...rules.producer!, ...more]);
    const queues = { [queue]: { groups: { concurrency: 1 } } };
    const { producer } = await scene.startApp({
      module: { connection, prefix: 'delay-queue', consume: false, queues },
    });
    await producer.offer(queue, 1, '1h');
    await producer.limits(queue).set({ globalConcurrency: 1 });
    expect(await producer.limits(queue).get()).toMatchObject({ globalConcurrency: 1 });
    const calls = {
      queue: () => producer.pause(queue),
      group: () => producer.group(queue, 'g').pause(),
      clear: () => producer.clear(queue),
    };
    const done: string[] = [];
    for (const [name, call] of Object.entries(calls)) {
      await call().then(
        () => done.push(name),
        (error: unknown) => expect(error).toMatchObject({ code: 'STORE_REFUSED' }),
      );
    }
    expect(done).toEqual(pauses);
    expect(await producer.counts(queue)).toMatchObject({ delayed: 1 });
  });

  test('of one queue may write the limits of others, unless it is given only two keys of the directory', async () => {
    const [own, other] = [scene.newQueue(), scene.newQueue()];
    const admin = await scene.startApp({ module: { prefix: 'delay-queue', consume: false } });
    const setsLimitsOfOther = async (...keysOfDirectory: readonly string[]) => {
      const ofOne = rules.producer!.map((rule) => rule.replace('delay-queue:*', `delay-queue:{${own}}:*`));
      const keys = keysOfDirectory.map((key) => `~delay-queue:{@queues}:${key}`);
      const connection = await urlOf('one', [...ofOne, ...keys]);
      const { producer, log } = await scene.startApp({ module: { connection, prefix: 'delay-queue', consume: false } });
      await producer.offer(own, 1, '1h');
      await until(async () => (await admin.producer.queues()).queues.includes(own));
      expect(log.filter((line) => /NOPERM|permission|registered/.test(line))).toEqual([]);
      const write = ['HSET', limitsKey('delay-queue'), other, '{"globalConcurrency":1,"by":"x","at":1}'];
      return scene.redis.call('ACL', 'DRYRUN', new URL(connection).username, ...write);
    };
    expect(await setsLimitsOfOther('*')).toBe('OK');
    expect(await setsLimitsOfOther('names', 'registered')).toMatch(/no permissions to access the .*limits' key/);
  });

  test('has only the permissions that a worker needs', () => {
    const ofKeys = neededCommands(partitionPermissions, nativeKeys('delay-queue', 'orders'));
    const needed = [...neededToCall('functions'), ...neededToCall('scripts'), ...ofKeys];
    expect(commandRules(rules.worker!)).toEqual(rulesFor(needed));
  });

  test('can do everything that the worker of a family needs, and nothing more', async () => {
    const handled = new Handled();
    const start = async (userRules: readonly string[]) =>
      scene.startApp({
        module: { connection: await urlOf('family', userRules), prefix: 'delay-queue' },
        providers: [handlerOf('tenant-*', handled.record)],
      });
    const { producer, log } = await start(rules.family!);
    await producer.offer('tenant-1', null, 20);
    await handled.untilCalls(1);
    expect((await producer.queues()).queues).toContain('tenant-1');
    expect(log.filter((line) => /NOPERM|permission/.test(line))).toEqual([]);

    const pattern = '&delay-queue:{tenant-*}:due';
    const more = [pattern, '+psubscribe', '+punsubscribe'];
    expect(rules.family!.filter((rule) => !more.includes(rule)).sort()).toEqual([...rules.worker!].sort());
    for (const missing of more.slice(0, 2)) {
      await expect(start(rules.family!.filter((rule) => rule !== missing))).rejects.toMatchObject({
        code: 'MISSING_PERMISSION',
        message: expect.stringContaining('+psubscribe on delay-queue:{tenant-*}:due'),
      });
    }
  });

  test('can handle and offer messages without access to the directory of queues, and the log names what does not work', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const ofOne = rules.worker!.map((rule) => rule.replace('delay-queue:*', `delay-queue:{${queue}}:*`));
    const module = { connection: await urlOf('one', ofOne), prefix: 'delay-queue' };
    const { producer, log } = await scene.startApp({ module, providers: [handlerOf(queue, handled.record)] });
    await producer.offer(queue, null, 0);
    await handled.untilCalls(1);
    await until(() => log.some((line) => line.startsWith('warn Queues cannot be registered')));
    expect(await producer.counts(queue)).toMatchObject({ delayed: 0, ready: 0, dead: 0 });
    const ofHeartbeats = () => log.filter((line) => line.includes('heartbeats'));
    await until(() => ofHeartbeats().length > 0);
    expect(ofHeartbeats()).toEqual([expect.stringMatching(/^warn Redis refuses this process's heartbeats.*NOPERM/)]);
  });

  async function startLacking(missing: readonly string[], queues: readonly string[]) {
    const connection = await urlOf(
      'lacking',
      rules.worker!.filter((rule) => !missing.includes(rule)),
    );
    const providers = queues.map((queue) => handlerOf(queue, () => undefined));
    return scene.startApp({ module: { connection, prefix: 'delay-queue' }, providers });
  }

  test('cannot start a worker if any of the permissions is missing, and the error names it', async () => {
    const queue = scene.newQueue();
    const needed = neededCommands(partitionPermissions, nativeKeys('delay-queue', queue));
    for (const rule of rulesFor(needed, [])) {
      await expect(startLacking([rule], [queue])).rejects.toMatchObject({
        code: 'MISSING_PERMISSION',
        // Without one of these, the server cannot even be asked.
        message: expect.stringContaining(rule.startsWith('+eval') ? `'${rule.slice(1)}'` : rule),
      });
    }
  });

  test('gets a single error that lists every missing permission for all queues', async () => {
    const [a, b] = [scene.newQueue(), scene.newQueue()];
    await expect(startLacking(['+zremrangebyrank', '+publish', '+time'], [a, b])).rejects.toMatchObject({
      code: 'MISSING_PERMISSION',
      message: [a, b]
        .map(
          (queue) =>
            `Queue '${queue}' cannot be served: the Redis user lacks +time, +zremrangebyrank on delay-queue:{${queue}}:delayed, ` +
            `+publish on delay-queue:{${queue}}:due`,
        )
        .join('. ')
        .concat(': extend its ACL, see docs/operations.md'),
    });
  });

  test('is rejected for a queue that it may not access, and the error names the key', async () => {
    const [own, other] = [scene.newQueue(), scene.newQueue()];
    const ofOne = rules.worker!.map((rule) => rule.replace('delay-queue:*', `delay-queue:{${own}}:*`));
    const module = { connection: await urlOf('one', ofOne), prefix: 'delay-queue' };
    const start = (queue: string) => scene.startApp({ module, providers: [handlerOf(queue, () => undefined)] });
    await expect(start(own)).resolves.toBeDefined();
    await expect(start(other)).rejects.toThrow(`on delay-queue:{${other}}:delayed`);
  });

  test('has its permissions checked without any writes', async () => {
    const queue = scene.newQueue();
    await scene.redis.flushall();
    const changesBefore = await changes();
    // Once it has started, a process registers what it handles.
    await expect(startLacking(['+zremrangebyrank'], [queue])).rejects.toMatchObject({ code: 'MISSING_PERMISSION' });
    expect(await changes()).toBe(changesBefore);
    expect(await scene.redis.dbsize()).toBe(0);
  });

  /** The number of writes that the server has counted. */
  async function changes(): Promise<number> {
    return Number(/rdb_changes_since_last_save:(\d+)/.exec(await scene.redis.info('persistence'))![1]);
  }

  test('has its permissions checked again after a restart of the server, but not after a mere reconnection', async () => {
    const user = randomName('changing');
    const allow = (...more: string[]) => scene.redis.call('ACL', 'SETUSER', user, 'reset', ...rules.worker!, ...more);
    await allow();
    const connection = scene.url.replace('redis://', `redis://${user}:secret@`);
    const providers = [handlerOf(scene.newQueue(), () => undefined)];
    const { producer, log } = await scene.startApp({ module: { connection, prefix: 'delay-queue' }, providers });
    const connections = async () => {
      const clients = String(await scene.redis.client('LIST')).split('\n');
      return clients.filter((client) => client.includes(`user=${user}`) && client.includes('delay-queue:commands'));
    };
    const [before] = await connections();

    await allow('-zremrangebyrank');
    await scene.redis.client('KILL', 'USER', user);
    await until(async () => (await connections()).some((client) => client.split(' ')[0] !== before!.split(' ')[0]));
    // A check would have been sent, and answered, before these.
    for (const _twice of [1, 2]) await producer.counts('orders');
    expect(log.join()).not.toContain('cannot be served');

    await scene.server.restart();
    await until(() => allow('-zremrangebyrank'));
    await until(() => log.some((line) => line.startsWith('error') && line.includes('lacks +zremrangebyrank on')));
  });
});
