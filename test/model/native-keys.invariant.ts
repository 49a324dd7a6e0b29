import { expect } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { NativeKeys } from '../../lib/store/native/native-keys.js';
import { readRecord } from '../../lib/store/native/script-replies.js';
import { dueArgument } from '../../lib/store/native/script-arguments.js';
import { expectEqual } from './expect-equal.js';
import type { ModelMessage, QueueModel } from './queue-model.js';

/** How much later a message with a group is than the one offered before it for the same millisecond: see `equals.lua`. */
const scoreOf = (due: number, entry: number) => Number(`${due}.${String(entry * 3).padStart(4, '0')}`);

/** The part of a model that these keys hold. */
export type NativeContent = Pick<
  QueueModel,
  'messages' | 'followers' | 'in' | 'readyList' | 'paused' | 'wakeSignal'
> & {
  /** The name of a delayed message; default: its id. */
  readonly memberOf?: (id: string) => string;
};

/**
 * Expects the keys of the native layout to hold exactly what the model holds: no record without an index entry or the
 * reverse, no stray claim, attempt or error, and at most one wake-up signal.
 */
export async function expectNativeKeys(redis: Redis, keys: NativeKeys, model: NativeContent): Promise<void> {
  const read = redis
    .pipeline()
    .zrange(keys.delayed, 0, '-1', 'WITHSCORES')
    .lrange(keys.ready, 0, -1)
    .zrange(keys.leases, 0, '-1', 'WITHSCORES')
    .zrange(keys.dead, 0, '-1', 'WITHSCORES')
    .hgetall(keys.claims)
    .hgetall(keys.attempts)
    .hgetall(keys.errors)
    .hgetallBuffer(keys.messages)
    .llen(keys.wake)
    .exists(keys.paused)
    .hgetall(keys.followers);
  const rows = ((await read.exec()) ?? []).map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
  const [delayed, ready, leases, dead, claims, attempts, errors, messages, tokens, paused, followers] = rows as [
    string[],
    string[],
    string[],
    string[],
    Record<string, string>,
    Record<string, string>,
    Record<string, string>,
    Record<string, Buffer>,
    number,
    number,
    Record<string, string>,
  ];

  const all = [...model.messages.values()];
  const kept = {
    delayed: scores(delayed),
    leases: scores(leases),
    dead: scores(dead),
    claims,
    attempts,
    errors,
    dueInRecords: Object.fromEntries(Object.entries(messages).map(([id, record]) => [id, readRecord(record).dueAt])),
    paused: paused === 1,
    followers,
  };
  expectEqual(kept, {
    delayed: byId(model.in('delayed'), ({ due, entry = 0 }) => scoreOf(due.exact, entry), model.memberOf),
    leases: Object.fromEntries(model.in('active').map(({ lease }) => [lease!.token, lease!.end.exact])),
    dead: byId(model.in('dead'), ({ death }) => death!.at.exact),
    claims: claimsOf(model),
    attempts: byId(
      all.filter(({ failedAttempts }) => failedAttempts > 0),
      ({ failedAttempts }) => `${failedAttempts}`,
    ),
    errors: byId(model.in('dead'), ({ death }) => death!.error),
    dueInRecords: byId(all, ({ due }) => due.exact),
    paused: model.paused,
    followers: Object.fromEntries(
      [...model.followers].map(([id, { due, body }]) => [id, `${dueArgument(due)}\n${body.toString()}`]),
    ),
  });
  expectEqual([ready.length, ready, model.readyList.mayBeginWith(ready)], [model.readyList.length, ready, true]);
  expectTokens(tokens, model);
}

function expectTokens(tokens: number, { wakeSignal }: NativeContent): void {
  const allowed = { sent: [1], stale: [0, 1], none: [0] }[wakeSignal];
  if (!allowed.includes(tokens)) expect({ tokensOfWakeSignal: tokens }).toEqual({ tokensOfWakeSignal: allowed });
}

function scores(members: readonly string[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (let at = 0; at < members.length; at += 2) found[members[at]!] = Number(members[at + 1]);
  return found;
}

/** The ids that each claim holds, in the order in which it took them. */
function claimsOf(model: NativeContent): Record<string, string> {
  const claims: Record<string, string> = {};
  for (const { id, lease } of model.in('active')) claims[lease!.token] = `${claims[lease!.token] ?? '\n'}${id}\n`;
  return claims;
}

function byId<T>(
  messages: readonly ModelMessage[],
  value: (message: ModelMessage) => T,
  nameOf = (id: string) => id,
): Record<string, T> {
  return Object.fromEntries(messages.map((message) => [nameOf(message.id), value(message)]));
}
