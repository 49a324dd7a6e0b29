import { beforeEach, describe, expect, test } from '@jest/globals';
import { MemoryMessageStore } from '../../lib/store/memory/memory-store.js';
import type { Rate } from '../../lib/store/message-store.js';
import { LoggedEvents } from '../support/logged-events.js';
import { ManualClock } from '../support/manual-clock.js';
import { type Handler, startConsumer } from '../support/start-consumer.js';

const HOUR = 3_600_000;
const MINUTE = 60_000;

describe('consumers of a queue with a rate', () => {
  let clock: ManualClock;
  let store: MemoryMessageStore;
  let begin: number;
  /** When claims were made. */
  let claims: number[];
  /** When handlers started. */
  let starts: number[];

  beforeEach(() => {
    clock = new ManualClock();
    begin = clock.monotonic();
    claims = [];
    starts = [];
  });

  const open = (rate: Rate) => {
    store = new MemoryMessageStore({ limits: { attempts: 3, maxDeadLetters: 10, maxMessages: null, rate }, clock });
    const claim = store.claim.bind(store);
    store.claim = (request) => {
      if (request.limit > 0) claims.push(clock.monotonic() - begin);
      return claim(request);
    };
  };
  const start = (concurrency: number, call: Handler = () => undefined) =>
    startConsumer(
      { store, clock, events: new LoggedEvents() },
      (payload, message) => {
        starts.push(clock.monotonic() - begin);
        return call(payload, message);
      },
      { concurrency },
    );
  const offer = (count: number) =>
    store.offer(
      Array.from({ length: count }, (_, i) => ({ id: `m${i}`, due: { after: 0 }, onDuplicate: 'keep', body: 'J1' })),
    );
  const ready = async () => (await store.status()).counts.ready;

  test('handle messages as soon as the rate allows, with one claim at the end of each wait', async () => {
    open({ max: 2, per: 1000 });
    await offer(7);
    start(16);
    await clock.advance(10_000);
    expect(starts).toEqual([0, 0, 1000, 1000, 2000, 2000, 3000]);
    expect(claims.filter((at) => at > 0 && at < 3000)).toEqual([1000, 2000]);
  });

  test('do not claim while the rate is spent', async () => {
    open({ max: 1, per: HOUR });
    await offer(3);
    for (let i = 0; i < 5; i++) start(4);
    await clock.advance(MINUTE);
    const claimsOfFirstMinute = claims.length;
    await clock.advance(HOUR - 2 * MINUTE);
    expect([starts.length, claims.length]).toEqual([1, claimsOfFirstMinute]);
    await clock.advance(2 * MINUTE);
    expect(starts).toHaveLength(2);
  });

  test('make at most twice as many claims when there are ten times as many consumers', async () => {
    const claimsOf = async (consumers: number) => {
      open({ max: 10, per: 1000 });
      claims = [];
      for (let i = 0; i < consumers; i++) start(4);
      await offer(1000);
      await clock.advance(59_999);
      expect(await ready()).toBe(400);
      return claims.length;
    };
    const ofFive = await claimsOf(5);
    expect(ofFive).toBeLessThanOrEqual(60 * 10);
    expect(await claimsOf(50)).toBeLessThanOrEqual(2 * ofFive);
  });

  test('share the rate even if no single consumer can use all of it', async () => {
    open({ max: 10, per: 1000 });
    await offer(200);
    for (let i = 0; i < 6; i++) {
      start(1, () => new Promise<void>((resolve) => void clock.schedule(resolve, 500)));
    }
    await clock.advance(10_500);
    // Six can handle twelve a second.
    expect(starts.length).toBeGreaterThanOrEqual(95);
    expect(starts.length).toBeLessThanOrEqual(110);
  });

  test('take over within about a second from a consumer that dies while waiting for the rate', async () => {
    open({ max: 1, per: 5000 });
    await offer(3);
    await clock.advance(1);
    await store.transfer({ limit: 9 });
    // It asks for two, gets one, and dies.
    expect(await store.claim({ token: 'dead', limit: 2, lease: HOUR })).toMatchObject({ claimAgainIn: 5000 });
    start(4);
    await clock.advance(4999);
    expect(starts).toEqual([]);
    await clock.advance(1100);
    expect(starts).toHaveLength(1);
  });

  test('stop at once while they wait for the rate', async () => {
    open({ max: 1, per: HOUR });
    await offer(2);
    const loop = start(4);
    await clock.advance(10);
    await loop.stopClaiming();
    expect([starts.length, await ready()]).toEqual([1, 1]);
  });
});
