import { describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { Handled } from '../support/handled.js';
import { isEmpty } from '../support/is-empty.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

interface Condition {
  readonly says: RegExp;
  /** @returns a function that ends the condition */
  begin(scene: Scene): Promise<() => Promise<unknown>>;
}

/** Conditions in which a server refuses writes, by the first word of its reply. */
const CONDITIONS: Readonly<Record<string, Condition>> = {
  NOREPLICAS: {
    says: /NOREPLICAS.*min-replicas-to-write/,
    begin: async ({ redis }) => {
      await redis.config('SET', 'min-replicas-to-write', 1);
      return () => redis.config('SET', 'min-replicas-to-write', 0);
    },
  },
  MISCONF: {
    says: /MISCONF.*repair the disk or free space/,
    begin: async ({ redis }) => {
      const [, dir] = (await redis.config('GET', 'dir')) as [string, string];
      // A folder in which no file can be written.
      await redis.config('SET', 'dir', '/proc', 'save', '3600 1');
      await redis.bgsave();
      await until(async () => (await redis.info('persistence')).includes('rdb_last_bgsave_status:err'));
      return () => redis.config('SET', 'dir', dir, 'save', '');
    },
  },
  BUSY: {
    says: /BUSY.*SCRIPT KILL/,
    begin: async ({ redis, url }) => {
      const busy = new Redis(url, { maxRetriesPerRequest: null });
      const killed = busy.eval('while true do end', 0).catch(() => busy.disconnect());
      await until(async () =>
        redis.ping().then(
          () => false,
          (error: Error) => error.message.startsWith('BUSY'),
        ),
      );
      return async () => {
        await redis.script('KILL');
        await killed;
      };
    },
  },
};

describe('a Redis that refuses calls or does not answer', () => {
  const scene = new Scene({ args: ['--enable-protected-configs', 'yes', '--busy-reply-threshold', '100'] });
  const urlOf = (user: string) => scene.url.replace('redis://', `redis://${user}:secret@`);

  test('an offer fails and writes nothing if announcing it is not permitted', async () => {
    const queue = scene.newQueue();
    await scene.redis.call('ACL', 'SETUSER', 'mute', 'on', '>secret', '~*', '+@all', 'resetchannels');
    const { producer } = await scene.startApp({ module: { connection: urlOf('mute') } });

    const error: unknown = await producer.offer(queue, 1, '1h').catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'DelayQueueError', code: 'STORE_REFUSED' });
    expect((error as Error).message).toMatch(/publish|ACL/);
    expect(await scene.redis.keys(`${scene.prefix}:{${queue}}:*`)).toEqual([]);
  });

  test('an offer to keys outside the ACL fails with a typed error', async () => {
    const queue = scene.newQueue();
    await scene.redis.call('ACL', 'SETUSER', 'bound', 'on', '>secret', '~elsewhere:*', '+@all', '&*');
    const { producer } = await scene.startApp({ module: { connection: urlOf('bound') } });
    await expect(producer.offer(queue, 1, '1h')).rejects.toMatchObject({
      code: 'STORE_REFUSED',
      message: expect.stringMatching(/NOPERM.*ACL/),
    });
  });

  test('an application without a permission does not start, and the error names the queue and the ACL', async () => {
    const queue = scene.newQueue();
    const users: [string, string][] = [
      ['keys', '~elsewhere:* &* +@all'],
      ['channels', '~* &elsewhere:* +@all'],
      ['commands', '~* &* +@all -hmget'],
    ];
    for (const [user, rules] of users) {
      await scene.redis.call('ACL', 'SETUSER', user, 'reset', 'on', '>secret', ...rules.split(' '));
      const providers = [handlerOf(queue, () => undefined)];
      const start = scene.startApp({ module: { connection: urlOf(user) }, providers });
      await expect(start).rejects.toMatchObject({
        code: 'MISSING_PERMISSION',
        message: expect.stringMatching(new RegExp(`Queue '${queue}' cannot be served.*ACL`)),
      });
    }
    expect(await scene.redis.keys(`*${queue}*`)).toEqual([]);
  });

  test('work resumes once a lost permission is granted again', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    await scene.redis.call('ACL', 'SETUSER', 'late', 'reset', 'on', '>secret', '~*', '+@all', '&*');
    const { producer, log } = await scene.startApp({
      module: { connection: urlOf('late') },
      providers: [handlerOf(queue, handled.record)],
    });
    await producer.offer(queue, 1, 200);
    await scene.redis.call('ACL', 'SETUSER', 'late', 'resetkeys', '~elsewhere:*');
    await until(() => log.some((line) => line.includes('transfer failed')));
    await scene.redis.call('ACL', 'SETUSER', 'late', '~*');
    const { attempt } = await handled.untilCalls(1);
    expect(attempt).toBe(1);
  });

  test('work resumes once a server that became a replica is the primary again', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer, log } = await scene.startApp({ providers: [handlerOf(queue, handled.record)] });
    await producer.offer(queue, 1, 300, { id: 'meanwhile' });
    await scene.redis.replicaof('127.0.0.1', 1);
    try {
      // The refusal also makes the client reconnect, so other offers may find no connection.
      await until(async () => {
        const error: unknown = await producer.offer(queue, 1, 0).catch((reason: unknown) => reason);
        expect(error).toMatchObject({ code: 'STORE_REFUSED', message: expect.stringMatching(/READONLY.*replica/) });
        return true;
      });
      await until(() => log.some((line) => line.includes('transfer failed')));
      expect(handled.calls).toEqual([]);
    } finally {
      await scene.redis.replicaof('NO', 'ONE');
    }
    const { attempt } = await handled.until('meanwhile');
    expect(attempt).toBe(1);
  });

  describe.each(Object.entries(CONDITIONS))('and refuses all writes with %s', (word, condition) => {
    test('offers fail with advice, and messages that fall due in the meantime are handled once afterwards', async () => {
      const queue = scene.newQueue();
      const handled = new Handled();
      const { producer, log } = await scene.startApp({ providers: [handlerOf(queue, handled.record)] });
      // If the subscription itself were refused, nobody would try a transfer.
      const channel = nativeKeys(scene.prefix, queue).due;
      await until(async () => Number((await scene.redis.pubsub('NUMSUB', channel))[1]) === 1);
      // Late enough for the condition to begin before it, even on a busy machine.
      await producer.offer(queue, 1, 3000, { id: 'meanwhile' });
      const end = await condition.begin(scene);
      try {
        await until(() => log.some((line) => line.includes('transfer failed') && line.includes(word)), {
          within: 30_000,
        });
        const error: unknown = await producer.offer(queue, 1, 0).catch((reason: unknown) => reason);
        expect(error).toMatchObject({ code: 'STORE_REFUSED', message: expect.stringMatching(condition.says) });
        expect(handled.calls).toEqual([]);
      } finally {
        await end();
      }
      await handled.until('meanwhile', { within: 30_000 });
      await producer.offer(queue, 1, 0, { id: 'afterwards' });
      await handled.until('afterwards', { within: 30_000 });
      await until(() => isEmpty(producer, queue));
      expect(handled.calls.map(({ id, attempt }) => [id, attempt])).toEqual([
        ['meanwhile', 1],
        ['afterwards', 1],
      ]);
    });
  });

  test('messages that fall due while Redis does not answer are handled when it answers again', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({
      module: { offerTimeout: 300 },
      providers: [handlerOf(queue, handled.record)],
    });
    await producer.offer(queue, 1, 200, { id: 'm' });
    await scene.server.freeze();
    await sleep(1500);
    await scene.server.thaw();
    const { late } = await handled.until('m');
    expect(late).toBeGreaterThanOrEqual(0);
    await until(async () => (await producer.find(queue, 'm')) === null);
    expect(handled.ids).toEqual(['m']);
  });
});
