import { beforeAll, describe, expect, test } from '@jest/globals';
import { randomName } from '../support/random-name.js';
import { Scene } from '../support/scene.js';
import {
  CALLS,
  CALLS_KEEPING_IDS,
  CALLS_OF_GROUPS,
  CLAIMS_OF_GROUPS,
  COMMANDS,
  COMMANDS_KEEPING_IDS,
  COMMANDS_OF_GROUPS,
  FullQueues,
  GROUP_RATES,
  withoutInstants,
} from './full-queue.js';
import { refusalOf } from '../support/refusal.js';

/** One more message reaches the limit. */
const KEEPING_IDS = { idsFor: { for: 3_600_000, max: 1 } };

/** The commands that a claim of messages with groups needs only if the groups have a rate. */
const COMMANDS_OF_RATE = ['get', 'set', 'zadd', 'hset', 'publish', 'lrem'];

type FullQueueCalls = [string, ConstructorParameters<typeof FullQueues>[1], typeof CALLS, readonly string[]];

describe.each<FullQueueCalls>([
  ['one command', {}, CALLS, COMMANDS],
  ['one command on the keys of groups', { hasGroups: true }, CALLS_OF_GROUPS, COMMANDS_OF_GROUPS],
  ['one command while ids are kept', { limits: KEEPING_IDS }, CALLS_KEEPING_IDS, COMMANDS_KEEPING_IDS],
  [
    'one command on the keys of groups while ids are kept',
    { limits: KEEPING_IDS, hasGroups: true },
    CALLS_KEEPING_IDS,
    COMMANDS_KEEPING_IDS,
  ],
  ...Object.entries(GROUP_RATES).map(([name, groupRate]): FullQueueCalls => {
    return [`one command on the keys of ${name}`, { hasGroups: true, groupRate }, CLAIMS_OF_GROUPS, COMMANDS_OF_RATE];
  }),
])('losing the permission to run %s', (_what, options, calls, commands) => {
  const scene = new Scene({});
  const user = randomName('user');
  // With these limits, messages become dead letters and are dropped at once.
  const limits = { attempts: 2, maxDeadLetters: 0, ...options?.limits };
  const queues = new FullQueues(scene, { ...options, user, limits });
  const refusals = new Map<string, string[]>(commands.map((command) => [command, []]));
  const setUser = (rule: string) => scene.redis.call('ACL', 'SETUSER', user, rule);

  beforeAll(async () => {
    // The first call of a script on a connection is sent with EVAL instead of EVALSHA.
    for (const call of Object.values(calls)) await call((await queues.copy()).store);
  });

  test.each(commands)('makes each call either fail without changes or succeed as before: %s', async (command) => {
    for (const [name, call] of Object.entries(calls)) {
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

  test('makes at least one call fail, whichever command it is', () => {
    expect([...refusals].filter(([, names]) => names.length === 0)).toEqual([]);
  });
});
