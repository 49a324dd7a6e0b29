import { MemoryMessageStore } from '../../lib/store/memory/memory-store.js';
import type { Offer } from '../../lib/store/producer-store.js';
import { laneKeys } from '../../lib/store/native/lane-keys.js';
import { LaneStore } from '../../lib/store/native/lane-store.js';
import { changeCommands } from './commands/change.commands.js';
import { followCommands } from './commands/follow.commands.js';
import { anyGroupLimits, describeModelRun } from './describe-model-run.js';
import { GroupModel, inGroup } from './group-model.js';
import { expectLaneKeys } from './lane-keys.invariant.js';
import { MemoryRealStore } from './memory.real-store.js';
import { REDIS_DELAYS, type RedisLayout, RedisRealStore } from './redis.real-store.js';

class GroupedLaneStore extends LaneStore {
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
  override readonly ownCommands = [...followCommands(this.delays), ...changeCommands(this.delays)];

  constructor() {
    super((options) => new GroupedMemoryStore(options));
  }

  openModel(limits: ConstructorParameters<typeof GroupModel>[0]) {
    return new GroupModel(limits, true);
  }
}

const lanes: RedisLayout = {
  ownCommands: [...followCommands(REDIS_DELAYS), ...changeCommands(REDIS_DELAYS)],
  openModel: (limits) => new GroupModel(limits, false),
  openStore: (connections, { limits: { groups, ...limits }, ...names }) =>
    new GroupedLaneStore(connections, { ...names, limits, rules: groups! }),
  keysOf: ({ prefix, queue }) => {
    const keys = laneKeys(prefix, queue);
    return { wake: keys.wake, all: Object.values(keys) };
  },
  checkInside: (redis, { prefix, queue }, model) => expectLaneKeys(redis, laneKeys(prefix, queue), model as GroupModel),
};

describeModelRun('LaneStore', () => new RedisRealStore(lanes), anyGroupLimits);
describeModelRun('MemoryMessageStore with groups', () => new GroupedMemoryRealStore(), anyGroupLimits);
