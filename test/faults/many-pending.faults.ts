import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../lib/timing/clock.js';
import type { Claim } from '../../lib/store/consumer-store.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { NativeMessageStore } from '../../lib/store/native/native-store.js';
import { RedisConnections } from '../../lib/redis/redis-connections.js';
import { CommandCount } from '../support/command-count.js';
import { computedTime } from '../support/redis/computed-time.js';
import { LoggedEvents } from '../support/logged-events.js';
import { Scene } from '../support/scene.js';

const FEW = 20_000;
const MANY = 300_000;
const BATCH = 1000;
const ROUNDS = 10;
const LEASE = 600_000;
/** How many times as long a step may take with fifteen times the messages: cache misses, and a logarithm. */
const MAX_TIMES_LONGER = 6;

describe('many pending messages, offered latest first', () => {
  const scene = new Scene({});
  let connections: RedisConnections;
  beforeAll(() => {
    const [clock, events] = [systemClock, new LoggedEvents()];
    connections = new RedisConnections({
      connection: scene.url,
      clock,
      events,
      commandTimeout: 20_000,
      heartbeat: 60_000,
    });
  });
  afterAll(() => connections.close());

  function openQueue(): NativeMessageStore {
    const limits = { attempts: 5, maxDeadLetters: 10, maxMessages: null };
    return new NativeMessageStore(connections, { keys: nativeKeys(scene.prefix, scene.newQueue()), limits });
  }

  const idOf = (index: number) => `m${String(index).padStart(7, '0')}`;

  async function offer(store: NativeMessageStore, first: number): Promise<void> {
    const due = (index: number) => ({ at: 1_000_000_000 - index });
    const indices = Array.from({ length: BATCH }, (_, i) => first + i);
    await store.offer(indices.map((i) => ({ id: idOf(i), due: due(i), onDuplicate: 'reject', body: 'J1' })));
  }

  async function measure(pending: number) {
    const store = openQueue();
    for (let first = 0; first < pending - ROUNDS * BATCH; first += BATCH) await offer(store, first);
    const claims: Claim[][] = [];
    const steps: Record<string, (round: number) => Promise<unknown>> = {
      offer: (round) => offer(store, pending - (ROUNDS - round) * BATCH),
      transfer: () => store.transfer({ limit: BATCH }),
      claim: async (round) => {
        const token = `round ${round}`;
        const { messages } = await store.claim({ token, limit: BATCH, lease: LEASE });
        claims.push(messages.map(({ id }) => ({ id, token })));
      },
      extend: (round) => store.extend(claims[round]!, LEASE),
      settle: (round) => store.settle(claims[round]!.map((claim) => ({ claim, outcome: { kind: 'ack' } }))),
    };
    const count = await CommandCount.start(scene.redis);
    const times: Record<string, number> = {};
    for (const [name, step] of Object.entries(steps)) {
      const before = await computedTime(scene.redis);
      for (let round = 0; round < ROUNDS; round++) await step(round);
      times[name] = (await computedTime(scene.redis)) - before;
    }
    // The message offered last falls due first.
    const ids = claims.flat().map(({ id }) => id);
    expect(ids).toEqual(Array.from({ length: ROUNDS * BATCH }, (_, i) => idOf(pending - 1 - i)));
    expect((await store.status()).counts).toEqual({ delayed: pending - ROUNDS * BATCH, ready: 0, active: 0, dead: 0 });
    return { calls: await count.stop(), times };
  }

  test('need the same server calls as few messages, in time that grows far less than their number', async () => {
    // Loads the scripts into the server.
    await measure(ROUNDS * BATCH);
    const [few, many] = [await measure(FEW), await measure(MANY)];
    expect(many.calls).toEqual(few.calls);
    for (const [step, time] of Object.entries(many.times)) {
      const ms = (total: number) => (total / ROUNDS).toFixed(2);
      console.log(`${step} of ${BATCH}: ${ms(few.times[step]!)} ms with ${FEW} pending, ${ms(time)} ms with ${MANY}`);
      expect([step, time / few.times[step]! < MAX_TIMES_LONGER]).toEqual([step, true]);
    }
  });
});
