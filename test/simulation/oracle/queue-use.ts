import type { QueueTraits } from '../applications/scenario.js';
import type { ServedStore } from '../network/served-store.js';
import { GroupUse } from './group-use.js';
import type { Life } from './life.js';

/** The server's state of a queue, or of a partition of it. */
export class QueueUse {
  /** Messages that somebody holds. */
  readonly held = new Set<Life>();
  readonly groups = new Map<string, GroupUse>();
  isPaused = false;
  /** The time at which it went on after a pause, ms of the world. */
  resumedAt = -Infinity;

  constructor(
    readonly traits: QueueTraits,
    readonly store: ServedStore,
  ) {}

  groupOf(name: string | undefined): GroupUse | undefined {
    const { permits } = this.traits;
    if (name === undefined || permits === null) return undefined;
    let group = this.groups.get(name);
    if (!group) this.groups.set(name, (group = new GroupUse(name, permits)));
    return group;
  }
}
