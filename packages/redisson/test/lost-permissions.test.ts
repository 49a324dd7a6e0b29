import { beforeAll, describe, expect, test } from '@jest/globals';
import { randomName } from '../../../test/support/random-name.js';
import { refusalOf } from '../../../test/support/refusal.js';
import { Scene } from '../../../test/support/scene.js';
import { CALLS, COMMANDS, dump, fill } from './full-redisson-queue.js';
import { redissonQueues } from './redisson-queue.js';

describe('losing the permission to run one command, in the Redisson layout', () => {
  const scene = new Scene({});
  const open = redissonQueues();
  const user = randomName('user');
  const refused = new Set<string>();
  const setUser = (...rules: string[]) => scene.redis.call('ACL', 'SETUSER', user, ...rules);
  const openFilled = async () => {
    const queue = open({ url: scene.url, user, rate: { max: 1000, per: 3_600_000 } });
    await fill(queue);
    await queue.redis.hset(queue.keys.messages, 'in no state', 'a record of some bytes');
    return queue;
  };

  beforeAll(async () => {
    await setUser('reset', 'on', 'nopass', '~*', '&*', '+@all');
    // The first call of a script on a connection is sent with EVAL instead of EVALSHA.
    for (const call of Object.values(CALLS)) await call((await openFilled()).store);
  });

  test.each(COMMANDS)('makes calls fail without changing anything: %s', async (command) => {
    for (const [name, call] of Object.entries(CALLS)) {
      const queue = await openFilled();
      const before = await dump(queue);
      await setUser(`-${command}`);
      const refusal = await refusalOf(call(queue.store));
      await setUser(`+${command}`);
      if (refusal === undefined) continue;
      refused.add(command);
      expect([name, refusal]).toMatchObject([name, { name: 'DelayQueueError', code: 'STORE_REFUSED' }]);
      expect((refusal as Error).message).toMatch(/extend its ACL/);
      expect([name, await dump(queue)]).toEqual([name, before]);
    }
  });

  test('makes at least one call fail, whichever command it is', () => {
    expect(COMMANDS.filter((command) => !refused.has(command))).toEqual([]);
  });
});
