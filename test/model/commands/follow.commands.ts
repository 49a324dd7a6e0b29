import { expect } from '@jest/globals';
import fc from 'fast-check';
import { expectInstant, IDS } from '../agreement.invariant.js';
import { timed } from '../real-queue.js';
import { command, often, type WeightedCommands } from './command.js';

/** Offers made while messages are active. */
export function followCommands(delays: readonly number[]): WeightedCommands[] {
  const offer = fc.record({
    id: fc.constantFrom(...IDS),
    due: fc.oneof(fc.record({ at: fc.integer({ min: 1, max: 9 }) }), fc.record({ after: fc.constantFrom(...delays) })),
    onDuplicate: fc.constantFrom('follow' as const, 'follow' as const, 'follow' as const, 'replace' as const),
    body: fc.constantFrom('J"follows"', 'J"follows, too"'),
    /** True if it is for an active message, if there is one. */
    ofActive: fc.boolean(),
  });
  const follow = command({
    name: 'follow',
    args: fc.array(offer, { minLength: 1, maxLength: 4 }),
    run: async (model, real, chosen) => {
      const active = model.in('active');
      const offers = chosen.map(({ ofActive, ...each }, i) =>
        ofActive && active.length > 0 ? { ...each, id: active[i % active.length]!.id } : each,
      );
      const { answer, at } = await timed(real, () => real.views[0].offer(offers));
      const expected = model.offer(offers, at);
      expect(answer.map(({ outcome }) => outcome)).toEqual(expected.map(({ outcome }) => outcome));
      expected.forEach(({ due }, index) => expectInstant('dueAt', answer[index]!.dueAt, due));
    },
  });
  return [often(10, follow)];
}
