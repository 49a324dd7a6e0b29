import { MemoryMessageStore } from '../../lib/store/memory/memory-store.js';
import { ManualClock } from '../support/manual-clock.js';
import type { OpenQueue } from './contract-queue.js';
import { describeMessageStore } from './message-store.contract.js';
import { describeGroups } from './rules/group.rules.js';
import { describeGroupRates } from './rules/group-rate.rules.js';
import { describeRestoringGroups } from './rules/restore.rules.js';
import { describeGroupSettings } from './rules/group-settings.rules.js';

const openQueue: OpenQueue = (limits) => {
  const clock = new ManualClock();
  const store = new MemoryMessageStore({ limits, clock });
  return Promise.resolve({
    store,
    secondView: store,
    now: () => Promise.resolve(clock.wall()),
    advance: (ms) => clock.advance(ms),
    close: () => Promise.resolve(),
  });
};

describeMessageStore('MemoryMessageStore', openQueue, { transfersAndClaims: true, isShared: false });
describeGroups('MemoryMessageStore', openQueue);
describeRestoringGroups('MemoryMessageStore', openQueue);
describeGroupSettings('MemoryMessageStore', openQueue);
describeGroupRates('MemoryMessageStore', openQueue);
