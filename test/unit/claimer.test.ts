import { beforeEach, describe, expect, it } from '@jest/globals';
import { Claimer } from '../../lib/consumer/claimer.js';
import { RemoteClock } from '../../lib/timing/clock.js';
import { DelayQueueError, type DelayQueueErrorCode } from '../../lib/message/delay-queue-errors.js';
import { MemoryMessageStore } from '../../lib/store/memory/memory-store.js';
import type { ClaimReport, ClaimRequest } from '../../lib/store/consumer-store.js';
import { Handled } from '../support/handled.js';
import { ManualClock } from '../support/manual-clock.js';
import { LoggedEvents } from '../support/logged-events.js';
import { ANSWER_TIMEOUT, startConsumer } from '../support/start-consumer.js';

const LEASE = 30_000;

/** The fate of a call: it is answered, its answer or its request is lost, or it fails with this code. */
type Fate = 'answered' | 'answer lost' | 'request lost' | DelayQueueErrorCode;

describe('Claimer', () => {
  let clock: ManualClock;
  let store: MemoryMessageStore;
  let events: LoggedEvents;
  /** The fates of the next claims, in order; later ones are answered. */
  let fates: Fate[];
  let requests: ClaimRequest[];
  let carryOut: (request: ClaimRequest) => Promise<ClaimReport>;

  beforeEach(() => {
    clock = new ManualClock();
    events = new LoggedEvents();
    store = new MemoryMessageStore({
      limits: { attempts: 3, maxDeadLetters: 10, maxMessages: null },
      clock,
    });
    fates = [];
    requests = [];
    carryOut = store.claim.bind(store);
    store.claim = async (request) => {
      requests.push(request);
      const fate = fates.shift() ?? 'answered';
      const done = fate === 'answered' || fate === 'answer lost';
      const report = done ? await carryOut(request) : undefined;
      if (report && fate === 'answered') return report;
      throw new DelayQueueError(fate.includes('lost') ? 'OUTCOME_UNKNOWN' : (fate as DelayQueueErrorCode), fate);
    };
  });

  const newClaimer = () =>
    new Claimer({
      ...{ queue: 'orders', store, clock, events, lease: LEASE, answerTimeout: ANSWER_TIMEOUT },
      storeClock: new RemoteClock(50),
    });

  async function makeReady(count: number, bytes = 10): Promise<void> {
    const body = `J"${'x'.repeat(bytes)}"`;
    await store.offer(
      Array.from({ length: count }, (_, i) => ({ id: `m${i}`, due: { after: 0 }, onDuplicate: 'keep', body })),
    );
    await store.transfer({ limit: 1000 });
  }

  const counts = async () => (await store.status()).counts;

  async function claimIds(claimer: Claimer, limit = 8): Promise<string[]> {
    return (await claimer.claim(limit)).messages.map(({ id }) => id);
  }

  async function failClaims(claimer: Claimer, ...given: Fate[]): Promise<void> {
    fates.push(...given);
    while (fates.length > 0) await expect(claimer.claim(8)).rejects.toThrow(DelayQueueError);
  }

  it('replaces a claim whose response was lost with a new one under another token', async () => {
    const claimer = newClaimer();
    await makeReady(3);
    await failClaims(claimer, 'answer lost');
    expect(await claimIds(claimer)).toEqual(['m0', 'm1', 'm2']);
    expect(requests[1]!.supersedes).toBe(requests[0]!.token);
    expect(new Set(requests.map(({ token }) => token)).size).toBe(2);
    await makeReady(1);
    await claimer.claim(8);
    expect(requests[2]!.supersedes).toBeUndefined();
  });

  it("keeps the store's time when a transfer claims nothing", async () => {
    const claimer = newClaimer();
    const { lease } = await claimer.claim(8);
    store.transferAndClaim = () => Promise.resolve(undefined);
    await claimer.claim(8, { announcer: undefined });
    await clock.advance(1000);
    expect(lease.storeNow()).toBe(clock.wall());
  });

  it('takes over the messages of the second-to-last claim if the last one never reached the store', async () => {
    const claimer = newClaimer();
    await makeReady(1);
    await failClaims(claimer, 'answer lost', 'request lost');
    expect(await claimIds(claimer)).toEqual(['m0']);
    expect(await store.find('m0')).toMatchObject({ state: 'active', failedAttempts: 0 });
  });

  it.each<Fate>(['NOT_CONNECTED', 'LOGIN_REFUSED', 'STORE_REFUSED'])(
    'still replaces the lost claim after claims that failed with %s',
    async (fate) => {
      const claimer = newClaimer();
      await makeReady(1);
      await failClaims(claimer, fate);
      await failClaims(claimer, 'answer lost', fate, fate, fate, fate);
      expect(await claimIds(claimer)).toEqual(['m0']);
      const lost = requests[1]!;
      expect(requests.map(({ supersedes }) => supersedes)).toEqual([
        undefined,
        undefined,
        ...Array<string>(5).fill(lost.token),
      ]);
    },
  );

  it('halves its limits after each unanswered claim, and doubles them once responses are quick again', async () => {
    const claimer = newClaimer();
    await failClaims(claimer, 'request lost', 'request lost');
    for (let i = 0; i < 3; i++) await claimer.claim(8);
    const asked = requests.filter(({ limit }) => limit > 0).map(({ limit, maxBytes }) => [limit, maxBytes! / 1024]);
    expect(asked).toEqual([
      [8, 1024],
      [4, 512],
      [2, 256],
      [4, 512],
      [8, 1024],
    ]);
  });

  it('releases everything after three unanswered claims without spending an attempt, and logs the remedy', async () => {
    const claimer = newClaimer();
    await makeReady(8);
    await failClaims(claimer, 'answer lost', 'answer lost');
    expect(await counts()).toMatchObject({ ready: 4, active: 4 });
    await failClaims(claimer, 'answered', 'answer lost');
    expect(await counts()).toMatchObject({ ready: 8, active: 0 });
    expect((await store.find('m0'))!.failedAttempts).toBe(0);
    expect(events.lines.join('\n')).toMatch(/raise offerTimeout or lower maxPayloadBytes/);
    expect(await claimIds(claimer)).toEqual(['m0']);
  });

  it('requests at least one message', async () => {
    const claimer = newClaimer();
    await makeReady(2, 900_000);
    await failClaims(claimer, ...Array<Fate>(9).fill('NOT_CONNECTED'), 'request lost', 'request lost');
    expect(await claimIds(claimer)).toEqual(['m0']);
  });

  it('releases what unanswered claims may hold if no other claim follows', async () => {
    const claimer = newClaimer();
    await makeReady(1);
    await failClaims(claimer, 'answer lost', 'request lost');
    await claimer.releaseUnanswered();
    expect(await store.find('m0')).toMatchObject({ state: 'ready', failedAttempts: 0 });
  });

  it('ends a late claim only once, however often it is checked', async () => {
    const claimer = newClaimer();
    store.claim = (request) => {
      requests.push(request);
      return new Promise(() => undefined);
    };
    void claimer.claim(8);
    await clock.advance(0);
    clock.block(LEASE);
    for (let i = 0; i < 3; i++) claimer.releaseIfLate();
    expect(requests.map(({ supersedes }) => supersedes)).toEqual([undefined, requests[0]!.token]);
  });

  it('releases a claim that is still unanswered when its lease ends, so that it spends no attempt', async () => {
    const claimer = newClaimer();
    await makeReady(2);
    const late = store.claim.bind(store);
    store.claim = async (request) => {
      const report = await late(request);
      if (requests.length === 1) await clock.sleep(LEASE);
      return report;
    };
    const claimed = claimer.claim(8);
    await clock.advance(0);
    claimer.releaseIfLate();
    expect(await counts()).toMatchObject({ ready: 0, active: 2 });
    clock.block(LEASE);
    claimer.releaseIfLate();
    await store.transfer({ limit: 10 });
    expect(await store.find('m0')).toMatchObject({ state: 'ready', failedAttempts: 0 });
    await clock.advance(0);
    expect((await claimed).messages.map(({ id, failedAttempts }) => `${id} ${failedAttempts}`)).toEqual([
      'm0 0',
      'm1 0',
    ]);
  });

  it('gives up and releases everything if every claim is answered only after its lease has ended', async () => {
    const late = store.claim.bind(store);
    store.claim = async (request) => {
      const report = await late(request);
      if (request.limit > 0) await clock.sleep(LEASE);
      return report;
    };
    await makeReady(2);
    const failed = newClaimer()
      .claim(8)
      .catch((error: unknown) => error);
    await clock.advance(3 * LEASE + 1);
    expect(await failed).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(await counts()).toMatchObject({ ready: 2, active: 0 });
    expect((await store.find('m0'))!.failedAttempts).toBe(0);
  });

  describe("the store's time", () => {
    const storeTime = () => clock.wall();

    /** Delays calls before the store carries them out, and their answers afterwards, in ms. */
    const slowDown = (before: number, after: number) => {
      store.claim = async (request) => {
        requests.push(request);
        if (before > 0) await clock.sleep(before);
        const report = await carryOut(request);
        if (after > 0) await clock.sleep(after);
        return report;
      };
    };

    /** How far the time reported with a claim is ahead of the store's, in ms. */
    async function aheadAfter(claimer: Claimer, within: number): Promise<number> {
      await makeReady(1);
      const claimed = claimer.claim(8);
      await clock.advance(within);
      const { lease } = await claimed;
      return lease.storeNow() - storeTime();
    }

    it.each([
      ['the response', 0, 2000],
      ['the request', 2000, 0],
    ])('remains the last estimate if %s takes long', async (_, before, after) => {
      const claimer = newClaimer();
      expect(await aheadAfter(claimer, 0)).toBe(0);
      slowDown(before, after);
      expect(await aheadAfter(claimer, 5000)).toBe(0);
      expect(requests).toHaveLength(2);
    });

    it('is exact in the lease for the claim itself, however long the request and the response take', async () => {
      slowDown(2000, 3000);
      await makeReady(1);
      const [madeAt, receivedAt] = [storeTime() + 2000, clock.monotonic() + 5000];
      const claimed = newClaimer().claim(8);
      await clock.advance(20_000);
      const { lease } = await claimed;
      expect(lease).toMatchObject({ claimedAt: madeAt, receivedAt });
    });

    it.each([
      ['the response', 0, 2000],
      ['the request', 2000, 0],
    ])('is requested again if %s takes long', async (_, before, after) => {
      slowDown(before, after);
      await makeReady(1);
      const claimed = newClaimer().claim(8);
      await clock.advance(1999);
      slowDown(0, 0);
      await clock.advance(10);
      expect((await claimed).lease.storeNow()).toBe(storeTime());
      expect(requests.map(({ limit }) => limit)).toEqual([8, 0]);
    });

    it.each([
      [50, [8]],
      [51, [8, 0]],
    ])(
      'is requested again only if a response took more than 50 ms: after %d ms, the claim limits are %j',
      async (took, limits) => {
        slowDown(0, took);
        await makeReady(1);
        const claimed = newClaimer().claim(8);
        await clock.advance(took);
        await clock.advance(took);
        await claimed;
        expect(requests.map(({ limit }) => limit)).toEqual(limits);
      },
    );

    it('is at most a round trip ahead and never behind if all calls are slow, and is requested once a minute', async () => {
      const claimer = newClaimer();
      slowDown(100, 400);
      for (let i = 0; i < 12; i++) {
        const ahead = await aheadAfter(claimer, 5000);
        expect(ahead).toBeGreaterThanOrEqual(0);
        expect(ahead).toBeLessThanOrEqual(500);
      }
      expect(requests.filter(({ limit }) => limit > 0)).toHaveLength(12);
      expect(requests.filter(({ limit }) => limit === 0)).toHaveLength(1);
      await clock.advance(60_000);
      await aheadAfter(claimer, 5000);
      expect(requests.filter(({ limit }) => limit === 0)).toHaveLength(2);
    });

    it('is counted from the call if the second request fails', async () => {
      const claimer = newClaimer();
      await makeReady(1);
      store.claim = async (request) => {
        if (request.limit === 0) throw new DelayQueueError('NOT_CONNECTED', 'no connection');
        const report = await carryOut(request);
        await clock.sleep(300);
        return report;
      };
      const claimed = claimer.claim(8);
      await clock.advance(300);
      expect((await claimed).messages).toHaveLength(1);
      expect((await claimed).lease.storeNow()).toBe(storeTime());
    });

    it('follows the store when its clock is set back', async () => {
      const claimer = newClaimer();
      await aheadAfter(claimer, 0);
      await clock.advance(10_000);
      store.claim = async (request) => ({ ...(await carryOut(request)), now: storeTime() - 5000 });
      expect(await aheadAfter(claimer, 0)).toBe(-5000);
    });
  });

  describe('over a slow connection', () => {
    /** Makes an answer take as long as its bytes need; a call fails after {@link ANSWER_TIMEOUT}. */
    const slowDown = (bytesPerSecond: number) => {
      store.claim = async (request) => {
        const report = await carryOut(request);
        const time = report.messages.reduce((sum, { body }) => sum + body.length, 0) / (bytesPerSecond / 1000);
        await clock.sleep(Math.min(time, ANSWER_TIMEOUT));
        if (time > ANSWER_TIMEOUT) throw new DelayQueueError('OUTCOME_UNKNOWN', 'no answer');
        return report;
      };
    };

    const handleAll = () => {
      const handled = new Handled();
      startConsumer({ store, clock, events }, handled.record, { lease: LEASE });
      return handled;
    };

    it('claims in smaller parts and handles each message once', async () => {
      await makeReady(16, 250_000);
      slowDown(120_000);
      const handled = handleAll();
      await clock.advance(60_000);
      expect(handled.calls.map(({ id, attempt }) => `${id} ${attempt}`).sort()).toEqual(
        Array.from({ length: 16 }, (_, i) => `m${i} 1`).sort(),
      );
      expect(await counts()).toMatchObject({ ready: 0, active: 0, dead: 0 });
    });

    it('leaves the messages to other consumers if not even one arrives in time', async () => {
      await makeReady(16, 250_000);
      slowDown(10_000);
      handleAll();
      const taken = new Set<string>();
      for (let i = 0; i < 600; i++) {
        await clock.advance(50);
        const token = `other${i}`;
        for (const { id, failedAttempts } of (await carryOut({ token, limit: 2, lease: 1000 })).messages) {
          expect(failedAttempts).toBe(0);
          taken.add(id);
          await store.settle([{ claim: { id, token }, outcome: { kind: 'ack' } }]);
        }
      }
      expect(taken.size).toBe(16);
    });
  });
});
