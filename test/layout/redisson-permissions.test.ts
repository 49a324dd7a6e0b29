import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const QUEUE = 'orders';
const HOUR = 3_600_000;

describe('a Redis user with the permissions that the documentation lists for one queue of Redisson', () => {
  const scene = new Scene({});
  let rules: string[];

  beforeAll(async () => {
    const text = await readFile(path.resolve(import.meta.dirname, '../../docs/redisson.md'), 'utf8');
    rules = /<!-- acl: redisson -->\s*```\s*user \S+ (.*?)\n```/.exec(text)![1]!.split(' ');
  });

  async function start(user: string, userRules: readonly string[], handled: Handled) {
    await scene.redis.call('ACL', 'SETUSER', user, 'reset', ...userRules);
    return scene.startApp({
      module: {
        connection: scene.url.replace('redis://', `redis://${user}:secret@`),
        prefix: 'delay-queue',
        defaults: { layout: 'redisson', codec: 'string', backoff: { type: 'fixed', delay: 10 } },
      },
      providers: [
        handlerOf<string>(QUEUE, (payload, message) => {
          handled.record(payload, message);
          if (payload === 'fails' && message.attempt === 1) throw new Error('no');
        }),
      ],
    });
  }

  test('may do all that handling and producing take', async () => {
    const handled = new Handled();
    const { producer, log } = await start('enough', rules, handled);
    await producer.offer(QUEUE, 'works', 20);
    await producer.offer(QUEUE, 'fails', 20);
    // Due in another order than offered, so that they are looked for in the list.
    const offers = Array.from({ length: 60 }, (_, index) => ({
      payload: `m${index}`,
      delay: index % 2 === 0 ? 50 : HOUR + index,
    }));
    await producer.offerMany(QUEUE, offers);
    await scene.redis.rpush(QUEUE, 'from Java');
    await handled.untilCalls(34);

    for (const id of ['a', 'b']) await producer.offer(QUEUE, id, '1h', { id });
    expect(await producer.reschedule(QUEUE, 'a', '2h')).toBe(true);
    expect(await producer.find(QUEUE, 'a')).toMatchObject({ payload: 'a' });
    expect(await producer.cancel(QUEUE, 'a')).toBe(true);
    const values = producer.redisson(QUEUE);
    expect(await values.contains('b')).toBe(true);
    expect(await values.remove('b')).toBe(true);
    expect(await values.peek()).toBe('m1');
    expect(await values.poll()).toBe('m1');
    expect(await values.readAll()).toHaveLength(29);
    await until(async () => (await producer.counts(QUEUE)).active === 0);
    await producer.pause(QUEUE);
    await producer.resume(QUEUE);
    expect(await producer.clear(QUEUE)).toBe(29);
    expect(log.filter((line) => /NOPERM|permission/.test(line))).toEqual([]);
  }, 20_000);

  test.each(['+lset', '+lpos', '+rpop', '+zscan', '~orders', '~redisson_delay_queue:{orders}'])(
    'that lacks %s is told at the start, or by the first call that needs it',
    async (rule) => {
      const handled = new Handled();
      const lacking = rules.filter((each) => each !== rule);
      const told = async () => {
        const { producer, log } = await start('lacking', lacking, handled);
        await producer.offerMany(
          QUEUE,
          Array.from({ length: 9 }, (_, index) => ({ payload: `m${index}`, delay: (index % 3) * HOUR })),
        );
        await until(() => log.some((line) => /NOPERM|permission/.test(line)));
        throw new Error(log.find((line) => /NOPERM|permission/.test(line)));
      };
      await expect(told()).rejects.toThrow(/permission|NOPERM/);
    },
    20_000,
  );
});
