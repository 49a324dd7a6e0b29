import { systemClock } from '../../lib/clock.js';
import { jsonCodec } from '../../lib/store/json.codec.js';
import { nativeKeys } from '../../lib/store/native/native.keys.js';
import { redissonKeys } from '../../lib/store/redisson/redisson.keys.js';
import { RedissonMessageStore } from '../../lib/store/redisson/redisson.store.js';
import { QuietLogger } from '../support/quiet-logger.js';
import { javaCommands } from './commands/java.commands.js';
import { describeModelRun } from './describe-model-run.js';
import { expectNativeKeys } from './native-keys.invariant.js';
import { type RedisLayout, type RedisQueueOptions, RedisRealStore } from './redis.real-store.js';
import { RedissonJava } from './redisson-java.js';
import { expectRedissonKeys } from './redisson-keys.invariant.js';
import { RedissonQueueModel } from './redisson-model.js';

const keysOf = ({ prefix, queue }: RedisQueueOptions) => ({
  native: nativeKeys(prefix, queue),
  redisson: redissonKeys(prefix, queue),
});

const redisson: RedisLayout = {
  ownCommands: javaCommands(),
  openModel: (limits) => new RedissonQueueModel(limits),
  openStore: (connections, options) =>
    new RedissonMessageStore(connections, {
      ...options,
      codec: jsonCodec,
      format: 'Bc0Lc0',
      clock: systemClock,
      logger: new QuietLogger(),
      blockTimeout: 5000,
    }),
  keysOf: (options) => {
    const { native, redisson } = keysOf(options);
    return {
      wake: native.wake,
      all: [...(Object.values(native) as string[]), ...(Object.values(redisson) as string[])],
    };
  },
  checkInside: async (redis, options, model) => {
    const { native, redisson } = keysOf(options);
    const elsewhere = await expectRedissonKeys(redis, redisson, model as RedissonQueueModel);
    await expectNativeKeys(redis, native, (model as RedissonQueueModel).kept, elsewhere);
  },
  openJava: (redis, options) => new RedissonJava(redis, keysOf(options).redisson),
};

describeModelRun('RedissonMessageStore, with Java on the same queue,', 50, () => new RedisRealStore(redisson));
