import { beforeAll, describe, expect, test } from '@jest/globals';
import { commandsBesideNative } from '../../../lib/layouts/index.js';
import { neededToCall } from '../../../lib/redis/check/permissions.js';
import { redissonKeys } from '../src/redisson-keys.js';
import { redissonPermissions } from '../src/redisson-permissions.js';
import { commandRules, printedRules, rulesFor } from '../../../test/support/access-rules.js';
import { Handled } from '../../../test/support/handled.js';
import { Scene } from '../../../test/support/scene.js';
import { handlerOf } from '../../../test/support/test-app.js';
import { until } from '../../../test/support/until.js';
import { redisson, redissonQueue } from '../src/index.js';

const QUEUE = 'orders';
const HOUR = 3_600_000;

describe('a Redis user with the documented permissions for one queue in the Redisson layout', () => {
  const scene = new Scene({});
  let rules: string[];

  beforeAll(async () => {
    rules = await printedRules('../packages/redisson/README.md', 'redisson');
  });

  async function start(user: string, userRules: readonly string[], handled: Handled) {
    await scene.redis.call('ACL', 'SETUSER', user, 'reset', ...userRules);
    return scene.startApp({
      module: {
        connection: scene.url.replace('redis://', `redis://${user}:secret@`),
        prefix: 'delay-queue',
        defaults: { layout: redisson({ codec: 'string' }), backoff: { type: 'fixed', delay: 10 } },
      },
      providers: [
        handlerOf<string>(QUEUE, (payload, message) => {
          handled.record(payload, message);
          if (payload === 'fails' && message.attempt === 1) throw new Error('no');
        }),
      ],
    });
  }

  test('can do everything needed to handle and to produce messages', async () => {
    const handled = new Handled();
    const { producer, log } = await start('enough', rules, handled);
    await producer.offer(QUEUE, 'works', 20);
    await producer.offer(QUEUE, 'fails', 20);
    // Due in a different order than offered, so that the list must be searched for them.
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
    const values = redissonQueue(producer, QUEUE);
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

  test.each([
    ['+lset', /lacks \+lset on redisson_delay_queue:\{orders\}:/],
    ['+zscan', /lacks \+zscan on redisson_delay_queue_timeout:\{orders\}:/],
    ['+blmove', /lacks \+blmove on orders:/],
    ['~orders', /lacks \+blmove \+llen .* on orders:/],
    ['~redisson_delay_queue:{orders}', /lacks \+lindex .* on redisson_delay_queue:\{orders\}:/],
    [
      '&redisson_delay_queue_channel:{orders}',
      /lacks \+publish \+subscribe on redisson_delay_queue_channel:\{orders\}:/,
    ],
  ])('cannot start without %s', async (rule, problem) => {
    const started = start(
      'lacking',
      rules.filter((each) => each !== rule),
      new Handled(),
    );
    await expect(started).rejects.toMatchObject({
      code: 'MISSING_PERMISSION',
      message: expect.stringMatching(problem),
    });
  });

  test('has no unnecessary permissions', () => {
    const needed = commandsBesideNative(
      redissonPermissions,
      redissonKeys({ prefix: 'delay-queue', queue: QUEUE }),
      false,
    );
    // Either way to call what runs in Redis would do.
    const toCall = (['functions', 'scripts'] as const).flatMap((scripting) => neededToCall(scripting));
    expect(commandRules(rules)).toEqual(rulesFor([...needed, ...toCall]));
  });
});
