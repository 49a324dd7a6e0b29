import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Rate } from '../../lib/store/message-store.js';

/** A limiter under test. Instants and lengths of time are whole microseconds. */
export interface RateUnderTest {
  /** Claims at an instant, never before that of the last claim. */
  claim(now: number, wanted: number): Promise<Claimed>;
}

export interface Claimed {
  readonly taken: number;
  /** In what time the caller has to claim again; undefined if it need not. */
  readonly againIn?: number | undefined;
}

interface Taken {
  readonly at: number;
  readonly count: number;
}

const START = Date.UTC(2030, 0, 1) * 1000;
const MILLISECOND = 1000;
/** The time for which a rate is watched, in multiples of its time. */
const WINDOWS = 12;

const anyRate = fc.record({
  max: fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 1, max: 5 }) }, fc.integer({ min: 6, max: 1000 })),
  per: fc.constantFrom(100 * MILLISECOND, 1000 * MILLISECOND, 86_400_000 * MILLISECOND),
});
/** Shares of the rate's time that pass between two claims: often none, often little, often nearly all of it. */
const anyPause = fc.oneof(
  fc.constantFrom(0, 1 / 100, 99 / 100, 1, 33 / 32),
  fc.double({ min: 0, max: 1 / 32, noNaN: true }),
  fc.double({ min: 31 / 32, max: 33 / 32, noNaN: true }),
  fc.double({ min: 0, max: 1.1, noNaN: true }),
);
const anyWanted = fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 1000 }));
/** The claim of a consumer as a share of the rate, and its lateness as a share of the rate's time. */
const anyVisit = fc.record({
  share: fc.double({ min: 0.02, max: 1, noNaN: true }),
  took: fc.double({ min: 0.0001, max: 0.001, noNaN: true }),
});
const anySteps = fc.array(fc.record({ pause: anyPause, wanted: anyWanted }), {
  minLength: 1,
  maxLength: 100,
  size: 'max',
});

/**
 * What a rate promises, whatever the claims.
 *
 * @param slack - the share of the time for which a message may count longer than it has to
 */
export function describeRateProperties({
  open,
  slack,
  runs,
}: {
  open: (rate: Rate) => RateUnderTest;
  slack: number;
  runs: number;
}): void {
  /** Claims step by step, and compares each claim with those before it. */
  const expectOfAnyClaims = (
    isKept: (rate: Rate, before: readonly Taken[], step: Taken & { wanted: number }) => boolean,
  ) =>
    fc.assert(
      fc.asyncProperty(anyRate, anySteps, async (rate, steps) => {
        const underTest = open(rate);
        const before: Taken[] = [];
        let at = START;
        for (const { pause, wanted } of steps) {
          at += Math.round(pause * rate.per);
          const { taken } = await underTest.claim(at, wanted);
          if (!isKept(rate, before, { at, count: taken, wanted })) return false;
          before.push({ at, count: taken });
        }
        return true;
      }),
      { numRuns: runs },
    );
  const countSince = (claims: readonly Taken[], since: number) =>
    claims.reduce((sum, { at, count }) => sum + (at > since ? count : 0), 0);

  describe('a rate', () => {
    test('never allows more than its amount in any window', () =>
      // A window that has too many ends with a claim.
      expectOfAnyClaims(({ max, per }, before, { at, count }) => countSince(before, at - per) + count <= max));

    test('allows its full amount at once in a window', () =>
      expectOfAnyClaims(({ max, per }, before, { at, count, wanted }) => {
        const counted = countSince(before, at - per * (1 + slack));
        return count >= Math.min(wanted, max - counted);
      }));

    test('is at least 95% used by consumers that wait as long as they are told', () =>
      fc.assert(
        fc.asyncProperty(anyRate, fc.array(anyVisit, { minLength: 1, maxLength: 20 }), async (rate, visits) => {
          const underTest = open(rate);
          let at = START;
          // At first they come bit by bit: whatever comes at once, comes at once again a window later.
          for (; at < START + rate.per; at += Math.ceil(rate.per / 50)) {
            await underTest.claim(at, Math.ceil(rate.max / 50));
          }
          const end = at + WINDOWS * rate.per;
          let total = 0;
          for (let i = 0; at < end; i++) {
            const { share, took } = visits[i % visits.length]!;
            const wanted = Math.ceil(share * rate.max);
            const { taken, againIn } = await underTest.claim(at, wanted);
            total += taken;
            // One that got all it wanted claims again at once; a busy machine is late at the end of a wait.
            at += taken === wanted ? 1 : (againIn ?? 0) + Math.ceil(took * rate.per);
          }
          expect(total).toBeGreaterThanOrEqual(0.95 * WINDOWS * rate.max);
        }),
        { numRuns: Math.ceil(runs / 30) },
      ));

    test('tells one consumer when it will allow more, and tells no other consumer before then', () =>
      fc.assert(
        fc.asyncProperty(anyRate, fc.integer({ min: 0, max: 1 }), async ({ max, per }, share) => {
          const underTest = open({ max, per });
          const first = await underTest.claim(START, max + 1);
          expect(first.taken).toBe(max);
          const wait = first.againIn!;
          expect(wait).toBeGreaterThan(0);
          expect(wait).toBeLessThanOrEqual(per);
          expect(await underTest.claim(START + Math.floor(0.9 * share * wait), 1)).toEqual({ taken: 0 });
          expect((await underTest.claim(START + per, 1)).taken).toBe(1);
        }),
        { numRuns: runs },
      ));
  });
}
