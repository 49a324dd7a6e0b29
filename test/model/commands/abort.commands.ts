import { expect } from '@jest/globals';
import fc from 'fast-check';
import { IDS } from '../agreement.invariant.js';
import { timed } from '../real-queue.js';
import { command, often, type WeightedCommands } from './command.js';

/** Commands that end active messages from outside. */
export function abortCommands(): WeightedCommands[] {
  const abort = command({
    name: 'abort',
    args: fc.constantFrom(...IDS),
    run: async (model, real, id) => {
      const { answer, at } = await timed(real, () => real.views[0].abort(id));
      expect(answer).toBe(model.abort(id, at));
    },
  });
  return [often(4, abort)];
}
