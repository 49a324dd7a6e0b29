import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { DueTime, Offer, OnDuplicate } from '../../../lib/store/producer-store.js';
import { expectInstant, IDS } from '../agreement.invariant.js';
import { timed } from '../real-queue.js';
import { command, often, type WeightedCommands } from './command.js';

const anyId = fc.constantFrom(...IDS);
/** Due times that are long past, in any order. */
const overdue = fc.record({ at: fc.integer({ min: 1, max: 9 }) });

/** A transfer announces an earlier due time only if it names its scheduler. */
const announcer = { scheduler: 'model', movedAt: null };

/** The commands for messages until they are ready. */
export function offerCommands(delays: readonly number[]): WeightedCommands[] {
  const anyDue: fc.Arbitrary<DueTime> = fc.oneof(
    { weight: 3, arbitrary: overdue },
    { weight: 1, arbitrary: fc.record({ after: fc.constantFrom(...delays) }) },
  );
  const onDuplicate = fc.constantFrom<OnDuplicate[]>('keep', 'replace', 'reject');
  const version = fc.nat({ max: 9 });
  const retries = fc.constantFrom(
    '',
    '',
    '',
    '',
    'Nretry\n1\n',
    'Nretry\n3\n',
    'Nretry\n4 fixed 5 0\n',
    'Nretry\n- fixed 5 0\n',
  );
  const anyOffer: fc.Arbitrary<Offer> = fc
    .record({ id: anyId, due: anyDue, onDuplicate, version, retries })
    .map(({ version, retries, ...offer }) => ({ ...offer, body: `${retries}J"${offer.id}${version}"` }));

  const offer = command({
    name: 'offer',
    args: fc.array(anyOffer, { minLength: 1, maxLength: 4 }),
    run: async (model, real, offers) => {
      const { answer, at } = await timed(real, () => real.views[0].offer(offers));
      const expected = model.offer(offers, at);
      expect(answer.map(({ outcome }) => outcome)).toEqual(expected.map(({ outcome }) => outcome));
      expected.forEach(({ due }, index) => expectInstant('dueAt', answer[index]!.dueAt, due));
    },
  });

  const cancel = command({
    name: 'cancel',
    args: anyId,
    run: async (model, real, id) => {
      expect(await real.views[1].cancel(id)).toBe(model.cancel(id));
    },
  });

  const reschedule = command({
    name: 'reschedule',
    args: fc.record({ id: anyId, due: anyDue }),
    run: async (model, real, { id, due }) => {
      const { answer, at } = await timed(real, () => real.views[0].reschedule(id, due));
      expect(answer).toBe(model.reschedule(id, due, at));
    },
  });

  const transfer = command({
    name: 'transfer',
    args: fc.constantFrom(1000, 1, 2, 3),
    run: async (model, real, limit) => {
      const { answer, at } = await timed(real, () => real.views[0].transfer({ limit, announcer }));
      const { nextIn, nextAt, at: madeAt, deadLettered, ...numbers } = answer;
      expect({ ...numbers, deadLettered: [...deadLettered].sort() }).toEqual(model.transfer(limit, at));

      const next = model.nextInstant;
      expect([nextAt === null, nextIn === null]).toEqual([next === null, next === null]);
      if (nextIn !== null && nextAt !== null && next !== null) {
        // A follower that took the place of a message in this very call is due at an instant that nobody has seen yet.
        expectInstant('nextAt', nextAt, next);
        expect(nextIn).toBeGreaterThanOrEqual(Math.max(0, nextAt - at.to) - 0.01);
        expect(nextIn).toBeLessThanOrEqual(Math.max(0, nextAt - at.from) + 0.01);
      }
      expect(madeAt).toBeGreaterThanOrEqual(at.from - 0.01);
      expect(madeAt).toBeLessThanOrEqual(at.to + 0.01);
    },
  });

  return [often(12, offer), often(3, cancel), often(6, reschedule), often(21, transfer)];
}
