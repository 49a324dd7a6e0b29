import { beforeEach, describe, expect, it } from '@jest/globals';
import { Claimer } from '../../lib/consumer/claimer.js';
import { DelayQueueError, type DelayQueueErrorCode } from '../../lib/message/delay-queue.errors.js';
import { MemoryMessageStore } from '../../lib/store/memory/memory.store.js';
import type { ClaimReport, ClaimRequest } from '../../lib/store/message-flow.js';
import { ManualClock } from '../support/manual-clock.js';
import { LoggedEvents } from '../support/logged-events.js';
import { ANSWER_TIMEOUT, startConsumer } from '../support/start-consumer.js';

const LEASE = 30_000;

/** What becomes of a call: its answer arrives, it gets lost, or so does the request. */
type Fate = 'answered' | 'answer lost' | 'request lost' | DelayQueueErrorCode;

describe('claims', () => {
  let clock: ManualClock;
  let store: MemoryMessageStore;
  let events: LoggedEvents;
  /** Of the next claims, in order; those after them are answered. */
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
    new Claimer({ queue: 'orders', store, clock, events, lease: LEASE, answerTimeout: ANSWER_TIMEOUT });

  async function makeReady(count: number, bytes = 10): Promise<void> {
    const body = `J"${'x'.repeat(bytes)}"`;
    await store.offer(
      Array.from({ length: count }, (_, i) => ({ id: `m${i}`, due: { after: 0 }, onDuplicate: 'keep', body })),
    );
    await store.transfer({ scheduler: 'test', limit: 1000 });
  }

  const counts = async () => (await store.status()).counts;

  async function claimIds(claimer: Claimer, limit = 8): Promise<string[]> {
    return (await claimer.claim(limit)).messages.map(({ id }) => id);
  }

  async function failClaims(claimer: Claimer, ...given: Fate[]): Promise<void> {
    fates.push(...given);
    while (fates.length > 0) await expect(claimer.claim(8)).rejects.toThrow(DelayQueueError);
  }

  it('come in the place of one whose answer got lost, each with a token of its own', async () => {
    const claimer = newClaimer();
    await makeReady(3);
    await failClaims(claimer, 'answer lost');
    expect(await claimIds(claimer)).toEqual(['m0', 'm1', 'm2']);
    expect(requests[1]!.insteadOf).toBe(requests[0]!.token);
    expect(new Set(requests.map(({ token }) => token)).size).toBe(2);
    await makeReady(1);
    await claimer.claim(8);
    expect(requests[2]!.insteadOf).toBeUndefined();
  });

  it('get what was taken two claims ago, if the claim between them never arrived', async () => {
    const claimer = newClaimer();
    await makeReady(1);
    await failClaims(claimer, 'answer lost', 'request lost');
    expect(await claimIds(claimer)).toEqual(['m0']);
    expect(await store.find('m0')).toMatchObject({ state: 'active', failedAttempts: 0 });
  });

  it.each<Fate>(['NOT_CONNECTED', 'LOGIN_REFUSED', 'STORE_REFUSED'])(
    'that failed with %s stand in nobody’s way',
    async (fate) => {
      const claimer = newClaimer();
      await makeReady(1);
      await failClaims(claimer, fate);
      await failClaims(claimer, 'answer lost', fate, fate, fate, fate);
      expect(await claimIds(claimer)).toEqual(['m0']);
      const lost = requests[1]!;
      expect(requests.map(({ insteadOf }) => insteadOf)).toEqual([
        undefined,
        undefined,
        ...Array<string>(5).fill(lost.token),
      ]);
    },
  );

  it('ask for half after each one without an answer, and for all again when answers are quick', async () => {
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

  it('give back all, with no attempt spent, after the third without an answer, and the log says what to do', async () => {
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

  it('take one message at least', async () => {
    const claimer = newClaimer();
    await makeReady(2, 900_000);
    await failClaims(claimer, ...Array<Fate>(9).fill('NOT_CONNECTED'), 'request lost', 'request lost');
    expect(await claimIds(claimer)).toEqual(['m0']);
  });

  it('give back what unanswered ones may hold when there will be no other', async () => {
    const claimer = newClaimer();
    await makeReady(1);
    await failClaims(claimer, 'answer lost', 'request lost');
    await claimer.giveBack();
    expect(await store.find('m0')).toMatchObject({ state: 'ready', failedAttempts: 0 });
  });

  it('that are under way for as long as their lease are ended before anything else happens', async () => {
    const claimer = newClaimer();
    await makeReady(2);
    const late = store.claim.bind(store);
    store.claim = async (request) => {
      const report = await late(request);
      if (requests.length === 1) await new Promise<void>((resolve) => clock.schedule(resolve, LEASE));
      return report;
    };
    const claimed = claimer.claim(8);
    await clock.advance(0);
    claimer.giveBackIfLate();
    expect(await counts()).toMatchObject({ ready: 0, active: 2 });
    clock.block(LEASE);
    claimer.giveBackIfLate();
    await store.transfer({ scheduler: 'test', limit: 10 });
    expect(await store.find('m0')).toMatchObject({ state: 'ready', failedAttempts: 0 });
    await clock.advance(0);
    expect((await claimed).messages.map(({ id, failedAttempts }) => `${id} ${failedAttempts}`)).toEqual([
      'm0 0',
      'm1 0',
    ]);
  });

  it('whose answers are always later than their leases end give back what they took', async () => {
    const late = store.claim.bind(store);
    store.claim = async (request) => {
      const report = await late(request);
      if (request.limit > 0) await new Promise<void>((resolve) => clock.schedule(resolve, LEASE));
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

  describe('over a slow connection', () => {
    /** Answers take their time, and are given up after {@link ANSWER_TIMEOUT}. */
    const slowDown = (bytesPerSecond: number) => {
      store.claim = async (request) => {
        const report = await carryOut(request);
        const time = report.messages.reduce((sum, { body }) => sum + body.length, 0) / (bytesPerSecond / 1000);
        await new Promise<void>((resolve) => clock.schedule(resolve, Math.min(time, ANSWER_TIMEOUT)));
        if (time > ANSWER_TIMEOUT) throw new DelayQueueError('OUTCOME_UNKNOWN', 'no answer');
        return report;
      };
    };

    const handleAll = () => {
      const handled: string[] = [];
      startConsumer({ store, clock, events }, (_payload, { id, attempt }) => handled.push(`${id} ${attempt}`), {
        lease: LEASE,
      });
      return handled;
    };

    it('arrive in parts, and each message is handled once', async () => {
      await makeReady(16, 250_000);
      slowDown(120_000);
      const handled = handleAll();
      await clock.advance(60_000);
      expect(handled.sort()).toEqual(Array.from({ length: 16 }, (_, i) => `m${i} 1`).sort());
      expect(await counts()).toMatchObject({ ready: 0, active: 0, dead: 0 });
    });

    it('leave the messages to others, where not one arrives in time', async () => {
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
