import { systemClock } from '../../lib/timing/clock.js';
import { redissonKeys } from '../../lib/redisson/redisson-keys.js';
import { RedissonMessageStore } from '../../lib/redisson/redisson-store.js';
import { LoggedEvents } from '../support/logged-events.js';
import { javaCommands } from './commands/java.commands.js';
import { describeModelRun } from './describe-model-run.js';
import { expectNativeKeys } from './native-keys.invariant.js';
import { type RedisLayout, RedisRealStore } from './redis.real-store.js';
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

describeModelRun('RedissonMessageStore, with Java on the same queue,', () => new RedisRealStore(redisson));
