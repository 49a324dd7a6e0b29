import type { Outcome } from '../../../lib/store/consumer-store.js';
import type { MessageStore } from '../../../lib/store/message-store.js';
import type { RedissonTestQueue } from './redisson-queue.js';

export const FAR = 9e12;
const HOUR = 3_600_000;
const HELD = { id: 'active', token: 'of active' };

export const offer = (id: string, onDuplicate: 'replace' | 'reject') => (store: MessageStore) =>
  store.offer([{ id, due: { at: FAR }, onDuplicate, body: 'new' }]);
const settle = (outcome: Outcome) => (store: MessageStore) => store.settle([{ claim: HELD, outcome }]);

/** Every script of the layout, including those of the native bookkeeping behind it. */
export const CALLS: Record<string, (store: RedissonTestQueue['store']) => Promise<unknown>> = {
  'offer a new message': offer('new', 'reject'),
  'offer, replace a delayed message': offer('delayed', 'replace'),
  'offer, replace a ready message': offer('ready', 'replace'),
  'offer, replace an active message': offer('active', 'replace'),
  cancel: (store) => store.cancel('delayed'),
  reschedule: (store) => store.reschedule('delayed', { at: FAR + 1 }),
  'find a delayed message': (store) => store.find('delayed'),
  'find a ready message': (store) => store.find('ready'),
  transfer: (store) => store.transfer({ limit: 10 }),
  claim: (store) => store.claim({ token: 'new', limit: 10, lease: HOUR }),
  'claim that supersedes another': (store) =>
    store.claim({ token: 'new', supersedes: HELD.token, limit: 10, lease: HOUR }),
  signal: (store) => store.wake(),
  'settle: ack': settle({ kind: 'ack' }),
  'settle: retry': settle({ kind: 'retry', delay: HOUR }),
  'settle: again': settle({ kind: 'again', delay: HOUR, body: 'anew' }),
  'settle: release': settle({ kind: 'release' }),
  repair: (store) => store.repair(30_000),
  status: (store) => store.status(),
  'count types': (store) => store.countTypes(),
  'count by due time': (store) => store.countDue([0, FAR]),
  'list the delayed': (store) => store.list({ state: 'delayed', limit: 10 }),
  'list the ready': (store) => store.list({ state: 'ready', limit: 10 }),
  resume: (store) => store.resume(),
  clear: (store) => store.clear(),
  'count values': (store) => store.delayedValues.count(),
  'list values': (store) => store.delayedValues.list(),
  'look for a value': (store) => store.delayedValues.contains('of delayed'),
  'remove a value': (store) => store.delayedValues.remove('of delayed'),
  'take the first value': (store) => store.delayedValues.takeFirst(),
};

/** Fills a queue with a message in each state, a due one, and one whose lease has ended. */
export async function fill(queue: RedissonTestQueue): Promise<void> {
  const past = Date.now() - HOUR;
  await queue.offer({ expired: { at: past, value: 'of expired' } });
  await queue.transfer();
  await queue.store.claim({ token: 'gone', limit: 1, lease: 0 });
  await queue.offer({ active: { at: past, value: 'of active' } });
  // A transfer would take back the expired lease, which is left for the call under test.
  await queue.redis.rpush(queue.keys.target, 'of active');
  await queue.redis.zrem(queue.keys.timeouts, ...(await queue.redis.zrangeBuffer(queue.keys.timeouts, 0, '-1')));
  await queue.redis.del(queue.keys.entries);
  await queue.store.claim({ token: HELD.token, limit: 1, lease: HOUR });
  await queue.offer({ ready: { at: past, value: 'of ready' } });
  await queue.redis.rpush(queue.keys.target, 'of ready');
  await queue.redis.del(queue.keys.timeouts, queue.keys.entries);
  await queue.offer({ due: { at: past, value: 'of due' }, delayed: { at: FAR, value: 'of delayed' } });
  await queue.offerAsJava('of Java', past);
}

/** Every key of the queue, byte by byte. */
export async function dump({ redis, name }: RedissonTestQueue): Promise<Record<string, string | undefined>> {
  const keys = (await redis.keys(`*${name}*`)).sort();
  const bytes = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
  return Object.fromEntries(keys.map((key, i) => [key, bytes[i]?.toString('hex')]));
}

/** Every command in the scripts of Redisson's layout that write, including those of the native bookkeeping. */
export const COMMANDS = [
  'del exists get hdel hget hgetall hlen hmget hrandfield hscan hset lindex llen lpop lpos lpush lrange lrem lset ltrim',
  'publish rpop rpush set time unlink zadd zcard zcount zmscore zrange zrem zscore',
].flatMap((line) => line.split(' '));
