import { systemClock } from '../../../../lib/timing/clock.js';
import { redissonKeys } from '../../src/redisson-keys.js';
import { RedissonMessageStore } from '../../src/redisson-store.js';
import { LoggedEvents } from '../../../../test/support/logged-events.js';
import { javaCommands } from './java.commands.js';
import { anySimpleLimits, describeModelRun } from '../../../../test/model/describe-model-run.js';
import { expectNativeKeys } from '../../../../test/model/native-keys.invariant.js';
import { type RedisLayout, RedisRealStore } from '../../../../test/model/redis.real-store.js';
import { RedissonJava } from './redisson-java.js';
import { expectRedissonKeys } from './redisson-keys.invariant.js';
import { RedissonQueueModel } from './redisson-model.js';

const redisson: RedisLayout = {
  ownCommands: javaCommands(),
  openModel: (limits) => new RedissonQueueModel(limits),
  openStore: (connections, options) =>
    new RedissonMessageStore(connections, {
      ...options,
      format: 'Bc0Lc0',
      clock: systemClock,
      events: new LoggedEvents(),
      blockTimeout: 5000,
    }),
  keysOf: (options) => {
    const keys = redissonKeys(options);
    return { wake: keys.wake, all: Object.values(keys) as string[] };
  },
  checkInside: async (redis, options, model) => {
    const keys = redissonKeys(options);
    await expectRedissonKeys(redis, keys, model as RedissonQueueModel);
    await expectNativeKeys(redis, keys, (model as RedissonQueueModel).kept);
  },
  openJava: (redis, options) => new RedissonJava(redis, redissonKeys(options)),
};

describeModelRun(
  'RedissonMessageStore, with Java on the same queue,',
  () => new RedisRealStore(redisson),
  anySimpleLimits,
);
