import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll } from '@jest/globals';
import type { ChainableCommander, Redis } from 'ioredis';
import { systemClock } from '../../lib/timing/clock.js';
import type { Claim, Outcome } from '../../lib/store/consumer-store.js';
import type { Offer } from '../../lib/store/producer-store.js';
import type { MessagePast } from '../../lib/store/message-past.js';
import type { MessageStore, Rate, StoreLimits } from '../../lib/store/message-store.js';
import { groupKeys, type GroupKeys, nativeKeys, type NativeKeys } from '../../lib/store/native/native-keys.js';
import { NativeMessageStore } from '../../lib/store/native/native-store.js';
import { RedisConnections } from '../../lib/redis/redis-connections.js';
import { LoggedEvents } from '../support/logged-events.js';
import { OneGroupStore } from '../layout/exercise/groups.exercise.js';
import type { Scene } from '../support/scene.js';

export const FULL_QUEUE_IDS = ['delayed', 'due', 'ready', 'active', 'followed', 'expired', 'dead'];
/** The message under a lease, and the claim that holds it. */
export const HELD = { id: 'active', token: 'of active' };
/** An active message with a follower. */
const FOLLOWED = { id: 'followed', token: 'of followed' };
const FAR = 9e12;
const LONG_LEASE = 36_000_000;
/** Far above what the calls claim, so that it only has to be counted. */
const RATE = { max: 1000, per: 3_600_000 };

const offer = (id: string, onDuplicate: Offer['onDuplicate']) => (store: MessageStore) =>
  store.offer([{ id, due: { at: FAR }, onDuplicate, body: 'J2' }]);
const settle =
  (outcome: Outcome, claim: Claim = HELD) =>
  (store: MessageStore) =>
    store.settle([{ claim, outcome }]);

const PAST = {
  offeredAt: 1,
  failedAttempts: 1,
  isHeld: true,
  follower: { due: { after: 1 }, body: Buffer.from('J3') },
};
const HANDLED = {
  ...{ handledAt: 9e12, until: 9e12 + 1, body: Buffer.from('J2') },
  entry: { dueAt: 1, offeredAt: 1, lateness: 0, took: 0, attempt: 1, worker: { id: 'w', host: 'h', pid: 1 } },
};
const restore =
  (id: string, death: MessagePast['death'] = null) =>
  (store: MessageStore) =>
    store.offer([{ id, due: { at: FAR }, onDuplicate: 'replace', body: 'J2', past: { ...PAST, death } }]);

/** Every script, on every path through the keys of a {@link FullQueues full queue}. */
export const CALLS: Record<string, (store: MessageStore) => Promise<unknown>> = {
  'offer a new message': offer('new', 'reject'),
  'offer the earliest message': (store) =>
    store.offer([{ id: 'new', due: { at: 0 }, onDuplicate: 'reject', body: 'J2' }]),
  'offer, keep': offer('delayed', 'keep'),
  'offer, replace a delayed message': offer('delayed', 'replace'),
  'offer, replace a ready message': offer('ready', 'replace'),
  'offer, replace an active message': offer('active', 'replace'),
  'offer, replace a dead message': offer('dead', 'replace'),
  'offer, replace a delayed and a ready message': (store) =>
    store.offer(['delayed', 'ready'].map((id) => ({ id, due: { at: FAR }, onDuplicate: 'replace', body: 'J2' }))),
  'offer, follow an active message': offer('active', 'follow'),
  'offer, replace a followed message': offer('followed', 'replace'),
  'cancel a follower': (store) => store.cancel('followed'),
  'settle: ack of a followed message': settle({ kind: 'ack' }, FOLLOWED),
  'settle: dead of a followed message': settle({ kind: 'dead', error: '{}' }, FOLLOWED),
  cancel: (store) => store.cancel('delayed'),
  reschedule: (store) => store.reschedule('delayed', { at: FAR + 1 }),
  'find a delayed message': (store) => store.find('delayed'),
  'find an active message': (store) => store.find('active'),
  'find a dead message': (store) => store.find('dead'),
  transfer: (store) => store.transfer({ limit: 10 }),
  claim: (store) => store.claim({ token: 'new', limit: 10, lease: LONG_LEASE }),
  'claim one': (store) => store.claim({ token: 'new', limit: 1, lease: LONG_LEASE }),
  wake: (store) => store.wake(),
  'claim nothing': (store) => store.claim({ token: 'new', limit: 0, lease: 0 }),
  'claim that supersedes another': (store) =>
    store.claim({ token: 'new', supersedes: HELD.token, limit: 10, lease: LONG_LEASE }),
  extend: (store) => store.extend([HELD], LONG_LEASE),
  'settle: ack': settle({ kind: 'ack' }),
  'settle: retry': settle({ kind: 'retry', delay: LONG_LEASE }),
  'settle: defer': settle({ kind: 'defer', delay: LONG_LEASE }),
  'settle: dead': settle({ kind: 'dead', error: '{}' }),
  'settle: release': settle({ kind: 'release' }),
  repair: (store) => store.repair(30_000),
  status: (store) => store.status(),
  'count types': (store) => store.countTypes(),
  'count by due time': (store) => store.countDue([0, FAR]),
  pause: (store) => store.pause(),
  resume: (store) => store.resume(),
  clear: (store) => store.clear(),
  'list the delayed': (store) => store.list({ state: 'delayed', limit: 10 }),
  'list the ready': (store) => store.list({ state: 'ready', limit: 10 }),
  'list the active': (store) => store.list({ state: 'active', limit: 10 }),
  'list the dead': (store) => store.list({ state: 'dead', limit: 10 }),
  'redrive one': (store) => store.redrive({ id: 'dead' }),
  'redrive the oldest': (store) => store.redrive({ oldest: 10 }),
  'discard one': (store) => store.discard({ id: 'dead' }),
  'discard the oldest': (store) => store.discard({ oldest: 10 }),
  scan: (store) => store.scan!(),
  'scan the history': (store) => store.scanHistory!(),
  'scan kept ids': (store) => store.scanKeptIds!(),
  'restore a handled message': (store) => store.restoreHandled!({ ...HANDLED, id: 'restored' }),
  'restore a kept id': (store) => store.restoreKeptId!({ ...HANDLED, id: 'restored' }),
  'restore a new message': restore('new'),
  'restore a dead letter': restore('new', { at: 1, error: '{}' }),
  'restore, replace a delayed message': restore('delayed'),
  'restore, replace a ready message': restore('ready'),
  'restore, replace an active message': restore('active'),
  'restore, replace a dead message': restore('dead', { at: 1, error: '{}' }),
};

/** Those of a queue that keeps the ids of handled messages. */
export const CALLS_KEEPING_IDS: typeof CALLS = {
  'settle: ack': settle({ kind: 'ack' }),
  'settle: ack of a followed message': settle({ kind: 'ack' }, FOLLOWED),
  'settle: ack and retry': (store) =>
    store.settle([
      { claim: HELD, outcome: { kind: 'ack' } },
      { claim: FOLLOWED, outcome: { kind: 'retry', delay: LONG_LEASE } },
    ]),
  'offer a new message': offer('new', 'reject'),
  'offer, replace an active message': offer('active', 'replace'),
  'offer, with the id of a handled message': offer('handled', 'keep'),
  'offer, with and without the id of a handled message': (store) =>
    store.offer(['handled', 'new'].map((id) => ({ id, due: { at: FAR }, onDuplicate: 'replace', body: 'J2' }))),
  'free an id': (store) => store.freeId!('handled'),
  'free an id that is not kept': (store) => store.freeId!('never'),
};

/** The same for the keys of groups, where all messages are of one group. */
export const CALLS_OF_GROUPS: typeof CALLS = {
  ...CALLS,
  'cancel a held message': (store) => store.cancel('held'),
  'reschedule a held message': (store) => store.reschedule('held', { at: FAR + 1 }),
  'offer, replace a held message': offer('held', 'replace'),
  'offer, replace a message in the backlog': offer('in line', 'replace'),
  abort: (store) => store.abort('active'),
  'settle: ack, with its group': settle({ kind: 'ack' }, { ...HELD, group: 'one' }),
  'settle: ack of a followed message, with its group': settle({ kind: 'ack' }, { ...FOLLOWED, group: 'one' }),
  'settle: retry, with its group': settle({ kind: 'retry', delay: LONG_LEASE }, { ...HELD, group: 'one' }),
  'list the group': (store) => store.listGroup!({ group: 'one' }),
  'list the groups': (store) => store.listGroups!(),
  'pause the group': (store) => store.setGroup!('one', { paused: true }),
  'raise the concurrency of the group': (store) => store.setGroup!('one', { concurrency: 10 }),
  'list the holders of permits': (store) => store.listHolders!(),
};

/** The calls that read the rate of each group. */
export const CLAIMS_OF_GROUPS: typeof CALLS = { claim: CALLS.claim!, 'claim one': CALLS['claim one']! };

/** Instants differ between two queues, which were filled and called at different times. */
export const withoutInstants = (answer: unknown) =>
  JSON.stringify(answer, (_name, value: unknown) => (typeof value === 'number' && value > 1e6 ? 'an instant' : value));

export interface FullQueue {
  readonly redis: Redis;
  readonly store: NativeMessageStore;
  readonly keys: NativeKeys | GroupKeys;
  /** Every key of the queue, byte by byte. */
  dump(): Promise<Record<string, string | null>>;
}

/**
 * Queues with a message in every state, named after it: `delayed`, `due`, `ready`, `active`, `followed` (active, with a
 * follower), `expired` (active, but its lease has ended) and `dead`. Each but `delayed` and `due` has failed once. With groups, also `held`,
 * which waits for its retry, and `in line`. All are copies of one queue that is made before the tests of a suite.
 */
export class FullQueues {
  #connections: RedisConnections | undefined;
  #pattern = new Map<string, Buffer>();
  readonly #limits: StoreLimits;

  /**
   * @param options - `user`: the Redis user of the stores, who may do everything at first; `hasGroups`: the messages are of one group, whose
   *   permits are all taken; `groupRate`: the rate of that group, see {@link GROUP_RATES}
   */
  constructor(
    private readonly scene: Scene,
    private readonly options: {
      readonly user?: string;
      readonly limits?: Partial<StoreLimits>;
      readonly hasGroups?: boolean;
      readonly groupRate?: Rate;
    } = {},
  ) {
    this.#limits = { attempts: 5, maxDeadLetters: 100, maxMessages: 100, rate: RATE, ...options.limits };
    beforeAll(async () => {
      const { user } = options;
      if (user) await scene.redis.call('ACL', 'SETUSER', user, 'reset', 'on', 'nopass', '~*', '&*', '+@all');
      this.#connections = new RedisConnections({
        connection: user ? scene.url.replace('redis://', `redis://${user}:any@`) : scene.url,
        clock: systemClock,
        events: new LoggedEvents(),
        commandTimeout: 5000,
        heartbeat: 60_000,
      });
      const pattern = this.#open();
      if (options.limits?.idsFor) await handle(pattern.store, 'handled');
      await fill(pattern.store, options.hasGroups);
      for (const [part, key] of Object.entries(pattern.keys)) {
        const value = await scene.redis.dumpBuffer(key);
        if (value) this.#pattern.set(part, value);
      }
    });
    afterAll(() => this.#connections?.close());
  }

  /** @param damage - changes the keys before they are used */
  async copy(damage: (redis: ChainableCommander, keys: GroupKeys) => unknown = () => {}): Promise<FullQueue> {
    const queue = this.#open();
    const pipeline = this.scene.redis.pipeline();
    for (const [part, value] of this.#pattern) pipeline.restore(queue.keys[part as keyof NativeKeys], 0, value);
    damage(pipeline, queue.keys as GroupKeys);
    for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error;
    return queue;
  }

  #open(): FullQueue {
    const queue = this.scene.newQueue();
    const { prefix } = this.scene;
    if (this.options.hasGroups) {
      const ofQueue = groupKeys(prefix, queue);
      const keys = { ...ofQueue, backlog: `${ofQueue.backlog}one`, rates: `${ofQueue.rates}one` };
      const limits = { ...this.#limits, rate: null };
      const rules = { ...RULES, rate: this.options.groupRate ?? null };
      const store = new OneGroupStore(this.#connections!, { prefix, queue, limits, rules });
      return { redis: this.scene.redis, store, keys, dump: () => dump(this.scene.redis, keys) };
    }
    const keys = nativeKeys(prefix, queue);
    const store = new NativeMessageStore(this.#connections!, {
      keys,
      limits: this.#limits,
      partitioning: { text: '0 1' },
    });
    return { redis: this.scene.redis, store, keys, dump: () => dump(this.scene.redis, keys) };
  }
}

/**
 * One permit more than these messages have: `held`, `active`, `followed`, `expired` and `ready`. The message `in line` waits in the backlog
 * behind `ready`, and a claim may take both.
 */
const RULES = { concurrency: 6, onRetry: 'hold' } as const;

/** How often {@link fill} claims a message with a group. */
const CLAIMS = 10;

/** The rates of a group whose messages make one more claim possible, and none. */
export const GROUP_RATES = {
  'a group that has nearly used up its rate': { max: CLAIMS + 1, per: 3_600_000 },
  'a group that has used up its rate': { max: CLAIMS, per: 3_600_000 },
};

async function fill(store: MessageStore, hasGroups = false): Promise<void> {
  const makeReady = async (id: string) => {
    await store.offer([{ id, due: { at: 0 }, onDuplicate: 'reject', body: 'J1' }]);
    await store.transfer({ limit: 10 });
  };
  const expire = async (claim: Claim) => {
    await store.extend([claim], 0);
    await sleep(2);
  };
  if (hasGroups) {
    await makeReady('held');
    await store.claim({ token: 'of held', limit: 1, lease: LONG_LEASE });
    await store.settle([{ claim: { id: 'held', token: 'of held' }, outcome: { kind: 'retry', delay: LONG_LEASE } }]);
  }
  for (const id of ['dead', 'active', 'followed', 'expired', 'ready']) {
    await makeReady(id);
    await store.claim({ token: 'first', limit: 1, lease: LONG_LEASE });
    await expire({ id, token: 'first' });
    await store.transfer({ limit: 10 });
    if (id !== 'ready') await store.claim({ token: `of ${id}`, limit: 1, lease: LONG_LEASE });
  }
  await store.settle([{ claim: { id: 'dead', token: 'of dead' }, outcome: { kind: 'dead', error: '{}' } }]);
  if (hasGroups) await makeReady('in line');
  await store.offer([
    { id: 'delayed', due: { at: FAR }, onDuplicate: 'reject', body: 'J1' },
    { id: 'due', due: { at: 1 }, onDuplicate: 'reject', body: 'J1' },
    { id: 'followed', due: { at: FAR }, onDuplicate: 'follow', body: 'J3' },
  ]);
  await expire({ id: 'expired', token: 'of expired' });
}

async function handle(store: MessageStore, id: string): Promise<void> {
  const token = `of ${id}`;
  await store.offer([{ id, due: { at: 0 }, onDuplicate: 'reject', body: 'J1' }]);
  await store.transfer({ limit: 10 });
  await store.claim({ token, limit: 1, lease: LONG_LEASE });
  await store.settle([{ claim: { id, token }, outcome: { kind: 'ack' } }]);
}

async function dump(redis: Redis, keys: object): Promise<Record<string, string | null>> {
  const parts = Object.entries(keys) as [string, string][];
  const values = await Promise.all(parts.map(([, key]) => redis.dumpBuffer(key)));
  return Object.fromEntries(parts.map(([part], index) => [part, values[index]?.toString('latin1') ?? null]));
}

/** Every command in the scripts of the native layout that write. */
export const COMMANDS = [
  'del exists get hdel hget hgetall hlen hmget hscan hset llen lpush lrange lrem ltrim',
  'publish rpush set time unlink zadd zcard zrange zrem zremrangebyrank zscore',
].flatMap((line) => line.split(' '));

/** The same for messages with groups, which have backlogs, and no short scripts. */
export const COMMANDS_OF_GROUPS = [...COMMANDS.filter((command) => command !== 'exists'), 'lpop'];

/** Those in the scripts that keep ids and look for kept ones, on any key. */
export const COMMANDS_KEEPING_IDS = [
  ...['hdel', 'hmget', 'pexpire', 'time', 'zadd', 'zcard', 'zcount', 'zmscore', 'zrem', 'zremrangebyrank', 'zscore'],
];
