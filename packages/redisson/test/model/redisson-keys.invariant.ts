import type { Redis } from 'ioredis';
import { readRecord } from '../../../../lib/store/native/script-replies.js';
import type { RedissonKeys } from '../../src/redisson-keys.js';
import { decodeEntry } from '../java/entry.codec.js';
import { expectEqual } from '../../../../test/model/expect-equal.js';
import type { ModelMessage } from '../../../../test/model/queue-model.js';
import { isEntry, isNameless, type RedissonQueueModel } from './redisson-model.js';

/**
 * Expects Redisson's structures to hold what the model holds, in the order in which Java sees it, and a record of each message
 * offered here to be kept beside them, which its value leads to. Some that Java took may not be forgotten yet.
 */
export async function expectRedissonKeys(redis: Redis, keys: RedissonKeys, model: RedissonQueueModel): Promise<void> {
  const [timeouts, entries, target, offered, values, repeated] = await Promise.all([
    redis.zrangeBuffer(keys.timeouts, 0, '-1', 'WITHSCORES'),
    redis.lrangeBuffer(keys.entries, 0, -1),
    redis.lrange(keys.target, 0, -1),
    redis.hgetallBuffer(keys.offered),
    redis.hvals(keys.values),
    redis.zrangeBuffer(keys.repeated, 0, '-1'),
  ]);
  const dueOf = Object.fromEntries(Object.entries(offered).map(([id, record]) => [id, readRecord(record).dueAt]));
  const delayed = model.in('delayed').filter(isEntry);
  const waiting = model.readyList.target.map((id) => model.messages.get(id)!);
  const ours = [...delayed, ...waiting].filter(({ id }) => !isNameless(id));

  expectEqual(
    pairs(timeouts).map(([entry, due]) => [valueOf(entry), Number(due)]),
    delayed.map(({ body, due }) => [body, due.exact]),
  );
  expectEqual(entries.map(valueOf), model.entries().map(bodyOf));
  expectEqual(target, waiting.map(bodyOf));
  expectEqual(
    ours.map(({ id }) => [id, dueOf[id]]),
    ours.map(({ id, due }) => [id, due.exact]),
  );
  const others = Object.keys(dueOf).filter((id) => !ours.some((message) => message.id === id));
  expectEqual(
    others.filter((id) => !model.takenByJava.has(id)),
    [],
  );
  expectEqual([...values, ...repeated.map(idAtPlace)].sort(), Object.keys(dueOf).sort());
}

/** Returns the id of the message, which follows the digest of the value, the due time and the id of the entry. */
function idAtPlace(place: Buffer): string {
  return place.subarray(30).toString();
}

function bodyOf({ body }: ModelMessage): string {
  return body;
}

function valueOf(entry: Buffer): string {
  const decoded = decodeEntry(entry);
  return decoded.readable ? decoded.value.toString() : `unreadable: ${decoded.reason}`;
}

function pairs<Item>(flat: readonly Item[]): [Item, Item][] {
  return Array.from({ length: flat.length / 2 }, (_, index) => [flat[2 * index]!, flat[2 * index + 1]!]);
}
