import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { groupOf } from '../../../lib/message/codec/body-forms.js';
import type { ClaimedMessage } from '../../../lib/store/consumer-store.js';
import type { MessageStore } from '../../../lib/store/message-store.js';
import { type Request, RequestParser } from '../tcp-proxy/request-parser.js';

/** Makes a server write every effect of a script to its log before it answers. */
export const WITH_LOG = ['--appendonly', 'yes', '--appendfsync', 'no', '--auto-aof-rewrite-percentage', '0'];

/** The keys of a server with their values. */
export type Dump = ReadonlyMap<string, Buffer>;

export async function dumpAll(redis: Redis): Promise<Dump> {
  const keys = await redis.keys('*');
  return new Map(await Promise.all(keys.map(async (key) => [key, await redis.dumpBuffer(key)] as const)));
}

/** The commands that a call has in the log of its server, without those that only hold them together. */
export async function effectsOf(folder: string, call: () => Promise<unknown>): Promise<Request[]> {
  const log = () => readFileSync(newestLog(folder));
  const before = log().length;
  await call();
  return new RequestParser()
    .push(log().subarray(before))
    .filter(({ command }) => !['SELECT', 'MULTI', 'EXEC'].includes(command));
}

/** Brings a server to the state in which a script leaves it that ends after some of its commands. */
export async function replay(redis: Redis, before: Dump, effects: readonly Request[]): Promise<void> {
  await redis.flushall();
  for (const [key, value] of before) await redis.restore(key, 0, value);
  for (const { command, args } of effects) await redis.call(command, ...args);
}

/**
 * Repairs a queue and handles what is ready or comes back from leases that nobody extends, twice, because what a first round removes may
 * have hidden something from the repair.
 */
export async function recover(store: MessageStore): Promise<ClaimedMessage[]> {
  const handled: ClaimedMessage[] = [];
  for (let round = 0; round < 2; round++) {
    let cursor: string | null | undefined;
    do ({ cursor } = await store.repair(1, cursor ?? undefined));
    while (cursor !== null);
    await sleep(5);
    while ((await store.transfer({ limit: 1000 })).more);
    for (let more = true; more;) {
      const token = randomBytes(9).toString('base64url');
      const { messages } = await store.claim({ token, limit: 100, lease: 3_600_000 });
      const claims = messages.map(({ id, body }) => ({ id, token, group: groupOf(body) }));
      await store.settle(claims.map((claim) => ({ claim, outcome: { kind: 'ack' } })));
      handled.push(...messages);
      more = messages.length > 0;
    }
  }
  return handled;
}

/** The file that a server writes to, which has the highest number. */
export function newestLog(folder: string): string {
  const logs = join(folder, 'appendonlydir');
  const numberOf = (name: string) => Number(/\.(\d+)\.incr\.aof$/.exec(name)?.[1] ?? 0);
  const newest = readdirSync(logs)
    .sort((a, b) => numberOf(a) - numberOf(b))
    .at(-1);
  if (newest === undefined || numberOf(newest) === 0) throw new Error(`There is no append-only file in ${logs}.`);
  return join(logs, newest);
}
