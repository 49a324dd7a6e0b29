import type { Redis } from 'ioredis';
import type { LaneKeys } from '../../lib/store/native/lane-keys.js';
import { expectEqual } from './expect-equal.js';
import type { GroupModel } from './group-model.js';
import { expectNativeKeys } from './native-keys.invariant.js';

/** What is stored of a lane. */
interface Lane {
  readonly taken: number;
  readonly first: number;
  readonly behind: number;
}

/**
 * Expects the keys of messages with groups to hold exactly what the model holds: each ready message either in the list or at its place
 * in a line, as many slots taken as there are messages that have one, and nothing of a group without messages.
 */
export async function expectLaneKeys(redis: Redis, keys: LaneKeys, model: GroupModel): Promise<void> {
  const [list, groups, lanes, lines, members, held] = await Promise.all([
    redis.lrange(keys.ready, 0, -1),
    redis.hgetall(keys.groups),
    redis.hgetallBuffer(keys.lanes),
    redis.hgetall(keys.lines),
    redis.zrange(keys.members, 0, '-1'),
    redis.hgetall(keys.held),
  ]);
  const { line } = model;
  const content = {
    messages: model.messages,
    followers: model.followers,
    in: model.in.bind(model),
    line: Object.assign(Object.create(line) as typeof line, {}),
    paused: model.paused,
    bell: model.bell,
  };
  Object.defineProperty(content.line, 'length', { value: list.length });
  Object.defineProperty(content.line, 'mayBeginWith', { value: () => true });
  await expectNativeKeys(redis, keys, content);

  const all = [...model.messages.values()];
  const inLines = new Set(Object.values(lines));
  expectEqual(
    [...list, ...inLines].sort(),
    model
      .in('ready')
      .map(({ id }) => id)
      .sort(),
  );
  const places = Object.fromEntries(Object.entries(lines).map(([place, id]) => [id, place]));
  // Whoever leaves a line keeps the name of its place there.
  const named = Object.entries(groups).map(([id, name]) => [id, id in places ? name : name.split('\n')[0]]);
  expectEqual(
    Object.fromEntries(named),
    Object.fromEntries(all.map(({ id }) => [id, places[id] ?? model.groupOf(id)])),
  );
  expectEqual([...members].sort(), all.map(({ id }) => `${model.groupOf(id)}\n${id}`).sort());
  const waiting = model.in('delayed').filter(({ id }) => line.slots.has(id));
  expectEqual(held, Object.fromEntries(waiting.map(({ id }) => [id, '1'])));

  const withSlot = [...list, ...[...model.in('active'), ...waiting].map(({ id }) => id)];
  const slots = model.limits.groups!.concurrency ?? Infinity;
  const read = Object.fromEntries(Object.entries(lanes).map(([group, text]) => [group, readLane(text)]));
  for (const group of new Set([...all.map(({ id }) => model.groupOf(id)), ...Object.keys(read)])) {
    const { taken, first, behind } = read[group] ?? { taken: 0, first: 0, behind: 0 };
    const inLine = Object.keys(lines).filter((place) => place.startsWith(`${group}\n`));
    const isInReach = (place: number) => place >= first && place < behind;
    expectEqual(
      {
        taken,
        tooMany: taken > slots,
        beyond: inLine.filter((place) => !isInReach(Number(place.split('\n')[1]))),
        waitsInVain: inLine.length > 0 && taken < slots && !list.some((id) => model.groupOf(id) === group),
        isKept: group in read,
      },
      {
        taken: withSlot.filter((id) => model.groupOf(id) === group).length,
        tooMany: false,
        beyond: [],
        waitsInVain: false,
        isKept: taken > 0 || first < behind,
      },
    );
  }
}

function readLane(text: Buffer): Lane {
  return { taken: text.readUInt32BE(0), first: text.readUIntBE(8, 6), behind: text.readUIntBE(14, 6) };
}
