import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../lib/clock.js';
import { nativeScripts } from '../../lib/store/native/native.scripts.js';
import { NativeMessageStore } from '../../lib/store/native/native.store.js';
import { RedisConnections } from '../../lib/store/redis/redis-connections.js';
import { CommandCount } from '../support/command-count.js';
import { QuietLogger } from '../support/quiet-logger.js';
import { Scene } from '../support/scene.js';

const FEW = 20_000;
const MANY = 300_000;
const BATCH = 1000;
const ROUNDS = 10;
const LEASE = 600_000;
/** How many times as long a script may take with fifteen times the messages: more than a logarithm, for a busy machine. */
const MOST_TIMES_LONGER = 6;

describe('many messages are pending, offered in reverse order of their due times', () => {
  const scene = new Scene({ args: ['--slowlog-log-slower-than', '0', '--slowlog-max-len', '1000'] });
  let connections: RedisConnections;
  beforeAll(() => {
    const [clock, logger] = [systemClock, new QuietLogger()];
    connections = new RedisConnections({
      connection: scene.url,
      clock,
      logger,
      commandTimeout: 20_000,
      heartbeat: 60_000,
    });
  });
  afterAll(() => connections.close());

  function openQueue(): NativeMessageStore {
    const limits = { attempts: 5, maxDeadLetters: 10, maxMessages: null, maxPayloadBytes: 1000 };
    return new NativeMessageStore(connections, { prefix: scene.prefix, queue: scene.newQueue(), limits });
  }

  const idOf = (index: number) => `m${String(index).padStart(7, '0')}`;

  async function offer(store: NativeMessageStore, first: number): Promise<void> {
    const due = (index: number) => ({ at: 1_000_000_000 - index });
    const indices = Array.from({ length: BATCH }, (_, i) => first + i);
    await store.offer(indices.map((i) => ({ id: idOf(i), due: due(i), onDuplicate: 'reject', body: 'J1' })));
  }

  /** @returns the ids of the messages that went all the way */
  async function handleBatch(store: NativeMessageStore, token: string): Promise<string[]> {
    await store.transfer({ scheduler: 's', limit: BATCH });
    const { messages } = await store.claim({ token, limit: BATCH, lease: LEASE });
    const ids = messages.map(({ id }) => id);
    await store.extend(
      ids.map((id) => ({ id, token })),
      LEASE,
    );
    await store.settle(ids.map((id) => ({ claim: { id, token }, outcome: { kind: 'ack' } })));
    return ids;
  }

  /** What a stage costs the server: its calls, those of scripts included, and how long each script runs at the quickest, in ms. */
  async function costOf(stage: () => Promise<unknown>) {
    await scene.redis.slowlog('RESET');
    const count = await CommandCount.start(scene.redis);
    await stage();
    const { slowlog: _look, ...calls } = await count.stop();
    const log = (await scene.redis.slowlog('GET', 1000)) as [number, number, number, string[]][];
    const quickest = Object.values(nativeScripts).flatMap(({ name, sha1 }) => {
      const times = log.filter(([, , , args]) => args[1] === sha1).map(([, , micros]) => micros / 1000);
      return times.length === 0 ? [] : [[name, Math.min(...times)] as const];
    });
    return { calls, quickest: new Map(quickest) };
  }

  async function measure(pending: number) {
    const store = openQueue();
    for (let first = 0; first < pending - ROUNDS * BATCH; first += BATCH) await offer(store, first);
    const ids: string[] = [];
    const cost = await costOf(async () => {
      for (let round = ROUNDS; round > 0; round--) await offer(store, pending - round * BATCH);
      for (let round = 0; round < ROUNDS; round++) ids.push(...(await handleBatch(store, `round ${round}`)));
    });
    // The last to be offered is the first to fall due.
    expect(ids).toEqual(Array.from({ length: ROUNDS * BATCH }, (_, i) => idOf(pending - 1 - i)));
    expect((await store.status()).counts).toEqual({ delayed: pending - ROUNDS * BATCH, ready: 0, active: 0, dead: 0 });
    return cost;
  }

  test('each costs what it costs with few: the same calls, in scripts that take no longer', async () => {
    const tiny = openQueue();
    await offer(tiny, 0);
    // From here on the server knows the scripts.
    await handleBatch(tiny, 'first');
    const [few, many] = [await measure(FEW), await measure(MANY)];
    expect(many.calls).toEqual(few.calls);
    expect([...many.quickest.keys()].sort()).toEqual(['claim', 'extend', 'offer', 'settle', 'transfer']);
    for (const [script, after] of many.quickest) {
      const before = few.quickest.get(script)!;
      console.log(`${script} of ${BATCH}: ${before} ms with ${FEW} pending, ${after} ms with ${MANY}`);
      expect([script, after / before < MOST_TIMES_LONGER]).toEqual([script, true]);
    }
  });
});
