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
  const [list, permits, held, lines] = await Promise.all([
    redis.lrange(keys.ready, 0, -1),
    redis.hgetallBuffer(keys.permits),
    redis.hgetall(keys.held),
    readLines(redis, keys),
  ]);
  const { line } = model;
  const content = {
    messages: model.messages,
    followers: model.followers,
    in: model.in.bind(model),
    line: Object.assign(Object.create(line) as typeof line, {}),
    paused: model.paused,
    wakeSignal: model.wakeSignal,
    memberOf: (id: string) => `${model.groupOf(id)}\n${id}`,
  };
  Object.defineProperty(content.line, 'length', { value: list.length });
  Object.defineProperty(content.line, 'mayBeginWith', { value: () => true });
  await expectNativeKeys(redis, keys, content);

  const all = [...model.messages.values()];
  expectEqual(
    [...list, ...[...lines.values()].flat()].sort(),
    model
      .in('ready')
      .map(({ id }) => id)
      .sort(),
  );
  const waiting = model.in('delayed').filter(({ id }) => line.slots.has(id));
  expectEqual(held, Object.fromEntries(waiting.map(({ id }) => [id, model.groupOf(id)])));

  const withSlot = [...list, ...[...model.in('active'), ...waiting].map(({ id }) => id)];
  const slots = model.limits.groups!.concurrency ?? Infinity;
  const { '': anyWide, ...stored } = permits;
  expectEqual(anyWide !== undefined, Object.values(stored).some(isWide));
  const read = Object.fromEntries(Object.entries(stored).map(([group, text]) => [group, readTaken(text)]));
  for (const group of new Set([...all.map(({ id }) => model.groupOf(id)), ...lines.keys(), ...Object.keys(read)])) {
    const taken = read[group] ?? 0;
    const inLine = lines.get(group) ?? [];
    expectEqual(
      {
        taken,
        tooMany: taken > slots,
        ofOthers: inLine.filter((id) => model.groupOf(id) !== group),
        waitsInVain: inLine.length > 0 && taken < slots && !list.some((id) => model.groupOf(id) === group),
        isKept: group in read,
      },
      {
        taken: withSlot.filter((id) => model.groupOf(id) === group).length,
        tooMany: false,
        ofOthers: [],
        waitsInVain: false,
        isKept: taken > 0,
      },
    );
  }
}

/** The ids in the backlog of each group. */
async function readLines(redis: Redis, keys: GroupKeys): Promise<Map<string, string[]>> {
  const names = await redis.keys(`${keys.line}*`);
  const lines = names.map(async (name) => [name.slice(keys.line.length), await redis.lrange(name, 0, -1)] as const);
  return new Map(await Promise.all(lines));
}

const isWide = (text: Buffer) => text.toString() !== '1';

function readTaken(text: Buffer): number {
  return isWide(text) ? text.readUInt32BE(0) : 1;
}
