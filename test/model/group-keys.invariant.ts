import type { Redis } from 'ioredis';
import type { GroupKeys } from '../../lib/store/native/native-keys.js';
import { expectEqual } from './expect-equal.js';
import type { GroupModel } from './group-model.js';
import { expectNativeKeys } from './native-keys.invariant.js';

/**
 * Expects the keys of messages with groups to hold exactly what the model holds: each ready message either in the list or in the backlog
 * of its group, as many permits taken as there are messages that have one, and nothing of a group without messages.
 */
export async function expectGroupKeys(redis: Redis, keys: GroupKeys, model: GroupModel): Promise<void> {
  const [list, permits, held, backlogs] = await Promise.all([
    redis.lrange(keys.ready, 0, -1),
    redis.hgetallBuffer(keys.permits),
    redis.hgetall(keys.held),
    readBacklogs(redis, keys),
  ]);
  const { readyList } = model;
  const content = {
    messages: model.messages,
    followers: model.followers,
    in: model.in.bind(model),
    readyList: Object.assign(Object.create(readyList) as typeof readyList, {}),
    paused: model.paused,
    wakeSignal: model.wakeSignal,
    memberOf: (id: string) => `${model.groupOf(id)}\n${id}`,
  };
  Object.defineProperty(content.readyList, 'length', { value: list.length });
  Object.defineProperty(content.readyList, 'mayBeginWith', { value: () => true });
  await expectNativeKeys(redis, keys, content);

  const all = [...model.messages.values()];
  expectEqual(
    [...list, ...[...backlogs.values()].flat()].sort(),
    model
      .in('ready')
      .map(({ id }) => id)
      .sort(),
  );
  const waiting = model.in('delayed').filter(({ id }) => readyList.permits.has(id));
  expectEqual(held, Object.fromEntries(waiting.map(({ id }) => [id, model.groupOf(id)])));

  const withPermit = [...list, ...[...model.in('active'), ...waiting].map(({ id }) => id)];
  const limitOf = (group: string) =>
    readyList.paused.has(group)
      ? 0
      : (readyList.concurrencies.get(group) ?? model.limits.groups!.concurrency ?? Infinity);
  const { '': anyWide, ...stored } = permits;
  if (readyList.paused.size + readyList.concurrencies.size > 0) expectEqual(anyWide?.toString(), '2');
  else if (!model.hadSettings) expectEqual(anyWide !== undefined, Object.values(stored).some(isWide));
  const read = Object.fromEntries(Object.entries(stored).map(([group, text]) => [group, readTaken(text)]));
  for (const group of new Set([...all.map(({ id }) => model.groupOf(id)), ...backlogs.keys(), ...Object.keys(read)])) {
    const taken = read[group] ?? 0;
    const backlog = backlogs.get(group) ?? [];
    expectEqual(
      {
        taken,
        tooMany: !readyList.paused.has(group) && taken > limitOf(group),
        ofOthers: backlog.filter((id) => model.groupOf(id) !== group),
        waitsInVain: backlog.length > 0 && taken < limitOf(group) && !list.some((id) => model.groupOf(id) === group),
        isKept: group in read,
      },
      {
        taken: withPermit.filter((id) => model.groupOf(id) === group).length,
        tooMany: false,
        ofOthers: [],
        waitsInVain: false,
        isKept: taken > 0,
      },
    );
  }
}

/** The ids in the backlog of each group. */
async function readBacklogs(redis: Redis, keys: GroupKeys): Promise<Map<string, string[]>> {
  const names = await redis.keys(`${keys.backlog}?*`);
  const backlogs = names.map(
    async (name) => [name.slice(keys.backlog.length), await redis.lrange(name, 0, -1)] as const,
  );
  return new Map(await Promise.all(backlogs));
}

const isWide = (text: Buffer) => text.toString() !== '1';

function readTaken(text: Buffer): number {
  return isWide(text) ? text.readUInt32BE(0) : 1;
}
