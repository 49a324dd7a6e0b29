import { MemoryMessageStore } from '../../lib/store/memory/memory-store.js';
import type { Offer } from '../../lib/store/producer-store.js';
import { groupKeys } from '../../lib/store/native/native-keys.js';
import { GroupStore } from '../../lib/groups/group-store.js';
import { changeCommands } from './commands/change.commands.js';
import { groupCommands } from './commands/group.commands.js';
import { historyCommands } from './commands/history.commands.js';
import { moveCommands } from './commands/move.commands.js';
import { keptIdCommands } from './commands/kept-ids.commands.js';
import { followCommands } from './commands/follow.commands.js';
import { anyGroupLimits, describeModelRun } from './describe-model-run.js';
import { GroupModel, inGroup } from './group-model.js';
import { expectGroupKeys } from './group-keys.invariant.js';
import { MemoryRealStore } from './memory.real-store.js';
import { REDIS_DELAYS, type RedisLayout, RedisRealStore } from './redis.real-store.js';

class GroupedGroupStore extends GroupStore {
  override offer(offers: readonly Offer[]) {
    return super.offer(offers.map(inGroup));
  }
}

class GroupedMemoryStore extends MemoryMessageStore {
  override offer(offers: readonly Offer[]) {
    return super.offer(offers.map(inGroup));
  }
}

class GroupedMemoryRealStore extends MemoryRealStore {
  override readonly ownCommands = [
    ...followCommands(this.delays),
    ...changeCommands(this.delays),
    ...historyCommands(),
    ...groupCommands(),
    ...keptIdCommands(),
    ...moveCommands(),
  ];

  constructor() {
    super((options) => new GroupedMemoryStore(options));
  }

  openModel(limits: ConstructorParameters<typeof GroupModel>[0]) {
    return new GroupModel(limits, true);
  }
}

const groups: RedisLayout = {
  ownCommands: [
    ...followCommands(REDIS_DELAYS),
    ...changeCommands(REDIS_DELAYS),
    ...historyCommands(),
    ...groupCommands(),
    ...keptIdCommands(),
    ...moveCommands(),
  ],
  openModel: (limits) => new GroupModel(limits, false),
  openStore: (connections, { limits: { groups, ...limits }, ...names }) =>
    new GroupedGroupStore(connections, { ...names, limits, rules: groups! }),
  keysOf: ({ prefix, queue }) => {
    const keys = groupKeys(prefix, queue);
    return { wake: keys.wake, all: Object.values(keys) };
  },
  checkInside: (redis, { prefix, queue }, model) =>
    expectGroupKeys(redis, groupKeys(prefix, queue), model as GroupModel),
};

describeModelRun('GroupStore', () => new RedisRealStore(groups), anyGroupLimits);
describeModelRun('MemoryMessageStore with groups', () => new GroupedMemoryRealStore(), anyGroupLimits);
