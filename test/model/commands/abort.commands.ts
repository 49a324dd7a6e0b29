import { expect } from '@jest/globals';
import fc from 'fast-check';
import { IDS } from '../agreement.invariant.js';
import { command, often, type WeightedCommands } from './command.js';

/** What ends active messages from outside. */
export function abortCommands(): WeightedCommands[] {
  const abort = command({
    name: 'abort',
    args: fc.constantFrom(...IDS),
    run: async (model, real, id) => {
      expect(await real.views[0].abort(id)).toBe(model.abort(id));
    },
  });
  return [often(4, abort)];
}
