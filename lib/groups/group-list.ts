import { readPage } from '../message/page.js';
import { readFields } from '../message/read-fields.js';
import type { GroupBacklog } from '../store/admin-store.js';
import type { MessageStore } from '../store/message-store.js';

/** The groups of a queue with the longest backlogs, and groups with settings of their own. */
export interface GroupList {
  /** The longest backlog first. */
  readonly groups: readonly {
    readonly group: string;
    /** The length of the backlog: how many due messages wait for a permit. */
    readonly waiting: number;
    /** How many permits are in use, by messages that are ready or active, or that keep theirs while they wait for a retry. */
    readonly holding: number;
    /** The ids of such messages: at most 10, or fewer if the queue has too many to look through. */
    readonly holders: readonly string[];
    /** True if the group is paused. */
    readonly paused: boolean;
    /** The group's own concurrency. Undefined: that of the queue's groups. */
    readonly concurrency: number | 'unlimited' | undefined;
  }[];
  /** The number of groups that have permits in use. All groups with a backlog are among them, except paused ones. */
  readonly total: number;
  /** False if there were too many groups to examine all of them, so that longer backlogs may be missing. */
  readonly isComplete: boolean;
}

/** The maximum numbers of calls that examine groups, about 500 each, and messages with permits, about 250 each. */
const MAX_GROUP_STEPS = 40;
const MAX_HOLDER_STEPS = 20;

const MAX_HOLDERS = 10;

/** @throws DelayQueueError `INVALID_ARGUMENT` */
export async function listGroups(
  store: MessageStore,
  query: { readonly limit?: number | undefined } | undefined,
): Promise<GroupList> {
  const { limit } = readPage(query && readFields(query, 'query', ['limit']));
  const backlogs = new Map<string, GroupBacklog>();
  let total = 0;
  let cursor: string | null | undefined;
  for (let step = 0; step < MAX_GROUP_STEPS && cursor !== null; step++) {
    const part = await store.listGroups!(cursor);
    for (const each of part.groups) backlogs.set(each.group, each);
    ({ total, cursor } = part);
  }
  const longest = [...backlogs.values()].sort(byBacklog).slice(0, limit);
  const holders = await findHolders(store, longest);
  const groups = longest.map((each) => ({ ...each, holders: holders.get(each.group)! }));
  return { groups, total, isComplete: cursor === null };
}

function byBacklog(one: GroupBacklog, other: GroupBacklog): number {
  return other.waiting - one.waiting || other.holding - one.holding || (one.group < other.group ? -1 : 1);
}

/** Finds messages that have the permits of these groups. */
async function findHolders(
  store: MessageStore,
  groups: readonly GroupBacklog[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map(groups.map(({ group }) => [group, new Set<string>()]));
  let left = groups.reduce((sum, { holding }) => sum + Math.min(holding, MAX_HOLDERS), 0);
  let cursor: string | null | undefined;
  for (let step = 0; step < MAX_HOLDER_STEPS && cursor !== null && left > 0; step++) {
    const part = await store.listHolders!(cursor);
    for (const { id, group } of part.holders) {
      const ids = found.get(group);
      if (!ids || ids.has(id) || ids.size === MAX_HOLDERS) continue;
      ids.add(id);
      left--;
    }
    cursor = part.cursor;
  }
  return new Map([...found].map(([group, ids]) => [group, [...ids]]));
}
