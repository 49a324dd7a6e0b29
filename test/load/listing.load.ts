import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Distribution, distributionOf } from '../../bench/src/measure/percentiles.js';
import type { DelayQueueProducer, MessageState } from '../../lib/index.js';
import { nativeCodec } from '../../lib/message/codec/native-codec.js';
import type { MessageStore } from '../../lib/store/message-store.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { NativeMessageStore } from '../../lib/store/native/native-store.js';
import { RedisConnections } from '../../lib/redis/redis-connections.js';
import { systemClock } from '../../lib/timing/clock.js';
import { LoggedEvents } from '../support/logged-events.js';
import { Scene } from '../support/scene.js';
import { PingWatch } from './ping-watch.js';

const MILLION = 1_000_000;
const BATCH = 1000;
/** As many as a board shows at once, and more. */
const PAGE = 100;
const PAGES = 500;
const PAYLOAD = 'x'.repeat(200);
const FAR = 9e12;
const HOUR = 3_600_000;

/** The maximum time of 99 of 100 pages, ms. */
const PAGE_P99 = 10;
/** A board that many people look at: so often it reads a page, ms. */
const BOARD_PACE = 50;

const overload = () => Math.max(1, loadavg()[0]! / availableParallelism());

describe(`listing ${MILLION} messages of 200 bytes`, () => {
  const scene = new Scene({});
  const queue = scene.newQueue();
  let connections: RedisConnections;
  let store: MessageStore;
  let producer: DelayQueueProducer;
  let tokens = 0;

  beforeAll(() => {
    const common = { clock: systemClock, events: new LoggedEvents() };
    connections = new RedisConnections({ connection: scene.url, ...common, commandTimeout: 60_000, heartbeat: 60_000 });
    const limits = { attempts: 3, maxDeadLetters: 2 * MILLION, maxMessages: null };
    store = new NativeMessageStore(connections, { keys: nativeKeys(scene.prefix, queue), limits });
  });
  beforeEach(async () => {
    ({ producer } = await scene.startApp({ module: { consume: false } }));
  });
  afterAll(() => connections.close());

  async function offerAll(firstDue: number): Promise<void> {
    const body = nativeCodec.encode({ type: '', payload: PAYLOAD, headers: {} });
    for (let first = 0; first < MILLION; first += BATCH) {
      const numbers = Array.from({ length: BATCH }, (_, i) => first + i);
      const idOf = (number: number) => `id-${String(number).padStart(13, '0')}`;
      await store.offer(
        numbers.map((n) => ({ id: idOf(n), due: { at: firstDue + n }, onDuplicate: 'keep' as const, body })),
      );
    }
  }

  /** Takes ready messages and ends them: some go back, the others are dead. */
  async function claimAndEnd(limit: number, released: number): Promise<number> {
    const token = `t${tokens++}`;
    const { messages } = await store.claim({ token, limit, lease: HOUR });
    const dead = { kind: 'dead', error: '{"name":"Error","message":"no such order"}' } as const;
    const outcomeOf = (i: number) => (i < released ? ({ kind: 'release' } as const) : dead);
    await store.settle(messages.map(({ id }, i) => ({ claim: { id, token }, outcome: outcomeOf(i) })));
    return messages.length;
  }

  /** Brings all messages into a state: the dead ones from the ready ones. */
  const FILL: Readonly<Record<'delayed' | 'ready' | 'dead', () => Promise<void>>> = {
    delayed: async () => {
      // Remains of an earlier attempt.
      await scene.redis.unlink(...Object.values(nativeKeys(scene.prefix, queue)));
      await offerAll(FAR);
    },
    ready: async () => {
      await store.clear();
      await offerAll(1);
      while ((await store.transfer({ limit: BATCH })).more);
    },
    dead: async () => {
      while ((await claimAndEnd(BATCH, 0)) > 0);
    },
  };

  async function timed(read: () => Promise<unknown>): Promise<number> {
    const start = performance.now();
    await read();
    return performance.now() - start;
  }

  /** Reads pages in the middle of a state, each anywhere. */
  async function byOffset(state: MessageState): Promise<Distribution> {
    const times: number[] = [];
    for (let i = 0; i < PAGES; i++) {
      const offset = MILLION / 2 + ((i * 7919) % 10_000);
      times.push(await timed(() => producer.list(queue, state, { offset, limit: PAGE })));
    }
    return distributionOf(times);
  }

  /** Walks on from the middle of a state. */
  async function byCursor(
    state: MessageState,
    between: () => Promise<unknown> = () => Promise.resolve(),
  ): Promise<Distribution> {
    const times: number[] = [];
    let { cursor } = await producer.list(queue, state, { offset: MILLION / 2, limit: PAGE });
    const seen = new Set<string>();
    for (let i = 0; i < PAGES; i++) {
      await between();
      times.push(
        await timed(async () => {
          const page = await producer.list(queue, state, { cursor: cursor!, limit: PAGE });
          for (const { id } of page.messages) seen.add(id);
          cursor = page.cursor;
        }),
      );
    }
    expect(seen.size).toBe(PAGES * PAGE);
    return distributionOf(times);
  }

  /** How quickly another client is answered, while a board reads a page of the middle now and then, and while nobody does. */
  async function pings(state: MessageState): Promise<{ listing: Distribution; quiet: Distribution }> {
    const watch = async (work: () => Promise<unknown>) => {
      const probe = await PingWatch.start(scene.url);
      for (let i = 0; i < 100; i++) {
        await work();
        await sleep(BOARD_PACE);
      }
      return (await probe.stop())[0]!;
    };
    const quiet = await watch(() => Promise.resolve());
    const listing = await watch(() => producer.list(queue, state, { offset: MILLION / 2, limit: PAGE }));
    return { listing, quiet };
  }

  const text = ({ p50, p99, max }: Distribution) =>
    `p50 ${p50.toFixed(2)}, p99 ${p99.toFixed(2)}, most ${max.toFixed(2)} ms`;

  test.each(['delayed', 'ready', 'dead'] as const)(
    'returns a page from the middle of the %s messages quickly and hardly delays other clients',
    async (state) => {
      await FILL[state]();
      expect((await producer.counts(queue))[state]).toBe(MILLION);
      const offsets = await byOffset(state);
      const cursors = await byCursor(state);
      const { listing, quiet } = await pings(state);
      console.log(
        `${state}: a page by offset ${text(offsets)}; by cursor ${text(cursors)}\n` +
          `PING beside a board ${text(listing)}; without ${text(quiet)}`,
      );
      expect(offsets.p99).toBeLessThanOrEqual(PAGE_P99 * overload());
      expect(cursors.p99).toBeLessThanOrEqual(PAGE_P99 * overload());
      // The probe's own jitter is a few tenths of a millisecond.
      expect(listing.p99).toBeLessThanOrEqual((2 * quiet.p99 + 2) * overload());
      if (state !== 'ready') return;
      const moving = await byCursor(state, () => claimAndEnd(20, 10));
      console.log(`${state}, while messages are claimed: a page by cursor ${text(moving)}`);
      expect(moving.p99).toBeLessThanOrEqual(PAGE_P99 * overload());
    },
    600_000,
  );
});
