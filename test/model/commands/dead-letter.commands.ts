import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { DeadSelection } from '../../../lib/store/admin-store.js';
import { IDS } from '../agreement.invariant.js';
import { timed } from '../real-queue.js';
import { command, often, type WeightedCommands } from './command.js';

const selection: fc.Arbitrary<DeadSelection> = fc.oneof(
  fc.record({ oldest: fc.constantFrom(1, 2, 1000) }),
  fc.record({ id: fc.constantFrom(...IDS) }),
);

export function deadLetterCommands(): WeightedCommands[] {
  const redrive = command({
    name: 'redrive',
    args: selection,
    run: async (model, real, selected) => {
      const { answer, at } = await timed(real, () => real.views[1].redrive(selected));
      expect(answer).toBe(model.redrive(selected, at));
    },
  });

  const discard = command({
    name: 'discard',
    args: selection,
    run: async (model, real, selected) => {
      expect(await real.views[1].discard(selected)).toBe(model.discard(selected));
    },
  });

  return [often(3, redrive), often(2, discard)];
}
