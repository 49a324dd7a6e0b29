import { beforeAll, describe, expect, test } from '@jest/globals';
import { randomName } from '../support/random-name.js';
import { Scene } from '../support/scene.js';
import { CALLS, COMMANDS, FullQueues } from './full-queue.js';
import { refusalOf } from '../support/refusal.js';

/** Two queues were not filled at the same instant, nor asked at the same. */
const withoutInstants = (answer: unknown) =>
  JSON.stringify(answer, (_name, value: unknown) => (typeof value === 'number' && value > 1e6 ? 'an instant' : value));

describe('a user that loses the permission to run one command', () => {
  const scene = new Scene({});
  const user = randomName('user');
  // So that letters are buried, and dropped at once.
  const queues = new FullQueues(scene, { user, limits: { attempts: 2, maxDeadLetters: 0 } });
  const refusals = new Map<string, string[]>(COMMANDS.map((command) => [command, []]));
  const setUser = (rule: string) => scene.redis.call('ACL', 'SETUSER', user, rule);

  beforeAll(async () => {
    // A script that the server does not know yet would be sent in another command.
    for (const call of Object.values(CALLS)) await call((await queues.copy()).store);
  });

  test.each(COMMANDS)('%s: each call is refused without a change, or has nothing to do with it', async (command) => {
    for (const [name, call] of Object.entries(CALLS)) {
      const { store, dump } = await queues.copy((redis, keys) =>
        redis.hset(keys.messages, 'in no state', 'J1'.repeat(9)),
      );
      const before = await dump();
      let answer: unknown;
      await setUser(`-${command}`);
      const refusal = await refusalOf(call(store).then((it) => (answer = it)));
      await setUser(`+${command}`);
      if (refusal === undefined) {
        const intact = await queues.copy((redis, keys) => redis.hset(keys.messages, 'in no state', 'J1'.repeat(9)));
        expect([name, withoutInstants(answer)]).toEqual([name, withoutInstants(await call(intact.store))]);
      } else {
        refusals.get(command)!.push(name);
        expect([name, refusal]).toMatchObject([name, { name: 'DelayQueueError', code: 'STORE_REFUSED' }]);
        expect((refusal as Error).message).toMatch(/extend its ACL/);
        expect([name, await dump()]).toEqual([name, before]);
      }
    }
  });

  test('each of these commands matters to a call', () => {
    expect([...refusals].filter(([, names]) => names.length === 0)).toEqual([]);
  });
});
