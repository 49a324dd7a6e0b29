import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { calendar } from '../../lib/calendar/index.js';
import { Delivery } from '../../lib/consumer/delivery.js';
import { FirstDue } from '../../lib/consumer/first-due.js';
import { Repetition } from '../../lib/repeats/repetition.js';
import { RuleTimes } from '../../lib/repeats/rule-times.js';
import { nativeCodec } from '../../lib/message/codec/native-codec.js';
import type { Retries } from '../../lib/message/retries.js';
import type { RepeatRule } from '../../lib/message/repeat-rule.js';
import { MemoryMessageStore } from '../../lib/store/memory/memory-store.js';
import type { Outcome } from '../../lib/store/consumer-store.js';
import { newLease } from '../support/deliveries.js';
import { ManualClock } from '../support/manual-clock.js';
import { isThorough } from '../support/thorough.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const START = Date.UTC(2030, 0, 1);
const LEASE = 30_000;
const ATTEMPTS = 3;
const TIMES = new RuleTimes(calendar);
const EVERY_MINUTE: RepeatRule = { cron: '* * * * *', timeZone: 'UTC', missed: 'once' };

/** The fate of an attempt in one process. */
type Fate = 'handled' | 'failed' | 'killed before' | 'killed after';

interface Attempt {
  readonly at: number;
  readonly attempt: number;
  readonly startedAt: number;
}

/** Minutes that were skipped: those between the start of an occurrence's last attempt and the next occurrence. */
function missing(attempts: readonly Attempt[]): string[] {
  return attempts.flatMap(({ startedAt }, i) => {
    const next = attempts[i + 1];
    if (next?.attempt !== 1) return [];
    const left: string[] = [];
    for (let time = (Math.floor(startedAt / MINUTE) + 1) * MINUTE; time < next.at; time += MINUTE) {
      left.push(new Date(time).toISOString());
    }
    return left;
  });
}

type Late = Pick<Delivery, 'id' | 'attempt' | 'dueAt' | 'lateness'>;

/** The terms of a message whose queue has no expiry. Without a lease, it has just been claimed. */
function newRepetition(
  { id, attempt, dueAt, lateness, lease = { ...newLease(), claimedAt: dueAt + lateness } }: Late & Partial<Delivery>,
  rule: RepeatRule,
  body: Buffer = Buffer.from('J1'),
  retries?: Retries,
): Repetition {
  const never = { after: null, onExpired: 'drop' } as const;
  const delivery = { id, attempt, dueAt, lateness, lease };
  const firstDue = new FirstDue(delivery, body, { content: { repeat: rule, retries }, queue: never });
  return new Repetition(delivery, { times: TIMES, attempts: ATTEMPTS }, { rule, firstDue });
}

/** Attempts of 24 hours, by processes that share a store and nothing else; `fates` gives the fate of each. */
async function live(rule: RepeatRule, fates: readonly { fate: Fate; takes: number }[]) {
  const clock = new ManualClock(START);
  const limits = { attempts: ATTEMPTS, maxDeadLetters: 10_000, maxMessages: null };
  const store = new MemoryMessageStore({ limits, clock });
  const body = nativeCodec.encode({ type: '', payload: null, headers: {}, repeat: rule });
  const first = TIMES.nextAfter(rule, START)!;
  await store.offer([{ id: 'a', due: { at: first }, onDuplicate: 'repeat', body }]);
  const attempts: Attempt[] = [];
  let made = 0;
  while (clock.wall() < START + DAY) {
    const { nextIn, ready } = await store.transfer({ limit: 10 });
    if (ready === 0) {
      await clock.advance(Math.max(1, nextIn ?? MINUTE));
      continue;
    }
    const token = `t${made}`;
    const { messages } = await store.claim({ token, limit: 1, lease: LEASE });
    const [message] = messages;
    const lease = {
      ...newLease(token),
      claimedAt: clock.wall(),
      receivedAt: clock.wall(),
      storeNow: (at = clock.wall()) => at,
    };
    const delivery = new Delivery('q', message!, lease);
    const repetition = newRepetition(delivery, rule, message!.body);
    const { fate, takes } = fates[made++ % fates.length]!;
    let outcome: Outcome | undefined = repetition.outcomeWithoutHandler();
    if (!outcome) {
      if (message!.id === 'a') {
        attempts.push({ at: message!.dueAt, attempt: delivery.attempt, startedAt: clock.wall() });
      }
      await clock.advance(takes);
      if (fate === 'handled' || fate === 'killed after') outcome = { kind: 'ack' };
      // An attempt that fails is repeated at once, so that its time stays that of the occurrence.
      else if (fate === 'failed' && delivery.attempt < ATTEMPTS) outcome = { kind: 'retry', delay: 0 };
      else if (fate === 'failed') outcome = { kind: 'dead', error: '{"name":"E"}' };
    }
    if (outcome) await store.settle([{ claim: { id: message!.id, token }, outcome: repetition.complete(outcome) }]);
  }
  const { messages: letters } = await store.list({ state: 'dead', limit: 1000 });
  return { attempts, letters, counts: (await store.status()).counts };
}

describe('an occurrence whose processes have all died', () => {
  const at = START + MINUTE;
  const later = { attempt: ATTEMPTS + 1, lateness: 10 * MINUTE };

  test.each(['once', 'skip'] as const)(
    'becomes a dead letter, and its message gets its next occurrence (missed: %s)',
    (missed) => {
      const rule = { ...EVERY_MINUTE, missed };
      const repetition = newRepetition({ id: 'a', dueAt: at, ...later }, rule);
      const outcome = repetition.outcomeWithoutHandler()!;
      expect(outcome).toMatchObject({ kind: 'dead', by: 'lease' });
      const next = missed === 'skip' ? at + 11 * MINUTE : at + MINUTE;
      expect(repetition.complete(outcome)).toMatchObject({ next: { at: next, failedAttempts: ATTEMPTS } });
    },
  );

  test('goes to a handler once more if it has an attempt left', () => {
    const last = { id: 'a', dueAt: at, ...later, attempt: ATTEMPTS };
    const repetition = newRepetition(last, EVERY_MINUTE);
    expect(repetition.outcomeWithoutHandler()).toBeUndefined();
  });

  test.each([
    [ATTEMPTS + 1, ATTEMPTS + 1, undefined],
    [ATTEMPTS + 2, ATTEMPTS + 1, 'dead'],
    [1, 1, undefined],
    [2, 1, 'dead'],
  ])('counts attempt %i by its own attempts if it has %i', (attempt, attempts, kind) => {
    const delivery = { id: 'a', dueAt: at, lateness: 0, attempt };
    const repetition = newRepetition(delivery, EVERY_MINUTE, undefined, { attempts });
    expect(repetition.outcomeWithoutHandler()?.kind).toBe(kind);
  });
});

describe('a message that repeats every minute', () => {
  const fate = fc.record({
    fate: fc.constantFrom<Fate>('handled', 'handled', 'handled', 'failed', 'killed before', 'killed after'),
    takes: fc.integer({ min: 0, max: 8000 }),
  });

  test.each(['once', 'each'] as const)(
    'is delivered at the first minute after its claim, even if its process believes that minute to be over (missed: %s)',
    (missed) => {
      const delivery = { id: 'a', attempt: 1, dueAt: START, lateness: 63_000 };
      const lease = { ...newLease(), claimedAt: START + MINUTE - 1 };
      const repetition = newRepetition({ ...delivery, lease }, { ...EVERY_MINUTE, missed });
      expect(repetition.complete({ kind: 'ack' })).toEqual({ kind: 'ack', next: { at: START + MINUTE } });
    },
  );

  test.each([
    ['the minute of its claim', 'within that minute', 59_000, 1],
    ['the second minute', 'after one has passed', 61_000, 2],
  ])("is delivered at the end of %s if its attempt ends %s (missed: 'skip')", (_, __, takes, minutes) => {
    const delivery = { id: 'a', attempt: 1, dueAt: START, lateness: 63_000 };
    const [receivedAt, lead] = [5000, 4000];
    const storeNow = (monotonic = receivedAt + takes) => START + lead - receivedAt + monotonic;
    const lease = { ...newLease(), claimedAt: START, receivedAt, storeNow };
    const repetition = newRepetition({ ...delivery, lease }, { ...EVERY_MINUTE, missed: 'skip' });
    expect(repetition.complete({ kind: 'ack' })).toEqual({ kind: 'ack', next: { at: START + minutes * MINUTE } });
  });

  test('is delivered once at each minute of 24 hours, whatever happens to the processes that handle it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fate, { minLength: 5, maxLength: 200 }), async (fates) => {
        const { attempts, letters, counts } = await live(EVERY_MINUTE, [...fates, { fate: 'handled', takes: 0 }]);
        const first = attempts.filter(({ attempt }) => attempt === 1).map(({ at }) => at);
        expect(new Set(first).size).toBe(first.length);
        expect(missing(attempts)).toEqual([]);
        expect(counts.delayed + counts.ready + counts.active).toBe(1);
        expect(letters.every(({ id }) => id.startsWith('{a}@2030-01-0'))).toBe(true);
      }),
      { numRuns: isThorough ? 10 : 2 },
    );
  }, 300_000);
});
