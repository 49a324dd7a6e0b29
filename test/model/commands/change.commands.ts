import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { DueTime, Offer } from '../../../lib/store/producer-store.js';
import { expectInstant, IDS } from '../agreement.invariant.js';
import { timed } from '../real-queue.js';
import { command, often, type WeightedCommands } from './command.js';

const anyId = fc.constantFrom(...IDS);

/** Changes of delayed messages, and offers with a maxWait; for stores that support both. */
export function changeCommands(delays: readonly number[]): WeightedCommands[] {
  const anyDue: fc.Arbitrary<DueTime> = fc.oneof(
    fc.record({ at: fc.integer({ min: 1, max: 9 }) }),
    fc.record({ after: fc.constantFrom(...delays) }),
  );
  // Short ones end a chain at once, long ones never.
  const maxWait = fc.constantFrom(1, 3_600_000, 7_200_000);
  const anyOffer: fc.Arbitrary<Offer> = fc
    .record({ id: anyId, due: anyDue, maxWait: fc.option(maxWait), version: fc.nat({ max: 9 }) })
    .map(({ id, due, maxWait, version }) => {
      const offer = { id, due, onDuplicate: 'replace', body: `J"${id}${version}"` } as const;
      return maxWait === null ? offer : { ...offer, maxWait };
    });

  const debounce = command({
    name: 'debounce',
    args: fc.array(anyOffer, { minLength: 1, maxLength: 4 }),
    run: async (model, real, offers) => {
      const { answer, at } = await timed(real, () => real.views[1].offer(offers));
      const expected = model.offer(offers, at);
      expect(answer.map(({ outcome }) => outcome)).toEqual(expected.map(({ outcome }) => outcome));
      expected.forEach(({ due }, index) => expectInstant('dueAt', answer[index]!.dueAt, due));
    },
  });

  const change = command({
    name: 'change',
    args: fc.record({ id: anyId, due: anyDue, isStale: fc.boolean(), version: fc.nat({ max: 9 }) }),
    run: async (model, real, { id, due, isStale, version }) => {
      const from = isStale ? 'J"stale"' : (model.messages.get(id)?.body ?? 'J');
      const to = model.laterBody(id, `J"${id} changed ${version}"`);
      const change = { due, from: Buffer.from(from), to };
      const { answer, at } = await timed(real, () => real.views[0].change!(id, change));
      expect(answer).toBe(model.change(id, { due, from, to }, at));
    },
  });

  return [often(8, debounce), often(6, change)];
}
