import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { NativeMessageStore } from '../../lib/store/native/native-store.js';
import { historyCommands } from './commands/history.commands.js';
import { moveCommands } from './commands/move.commands.js';
import { keptIdCommands } from './commands/kept-ids.commands.js';
import { followCommands } from './commands/follow.commands.js';
import { repeatCommands } from './commands/repeat.commands.js';
import { limitCommands } from './commands/limit.commands.js';
import { changeCommands } from './commands/change.commands.js';
import { describeModelRun } from './describe-model-run.js';
import { expectNativeKeys } from './native-keys.invariant.js';
import { REDIS_DELAYS, type RedisLayout, RedisRealStore } from './redis.real-store.js';

const native: RedisLayout = {
  ownCommands: [
    ...followCommands([0, 3_600_000]),
    ...changeCommands(REDIS_DELAYS),
    ...repeatCommands(),
    ...limitCommands(),
    ...historyCommands(),
    ...keptIdCommands(),
    ...moveCommands(),
  ],
  openStore: (connections, { prefix, queue, limits }) =>
    new NativeMessageStore(connections, { keys: nativeKeys(prefix, queue), limits }),
  keysOf: ({ prefix, queue }) => {
    const keys = nativeKeys(prefix, queue);
    return { wake: keys.wake, all: Object.values(keys) };
  },
  checkInside: (redis, { prefix, queue }, model) => expectNativeKeys(redis, nativeKeys(prefix, queue), model),
};

describeModelRun('NativeMessageStore', () => new RedisRealStore(native));
