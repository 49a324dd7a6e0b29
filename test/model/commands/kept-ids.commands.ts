import { expect } from '@jest/globals';
import fc from 'fast-check';
import { IDS } from '../agreement.invariant.js';
import { command, often, type WeightedCommands } from './command.js';

/** The commands of a queue that keeps the ids of handled messages. */
export function keptIdCommands(): WeightedCommands[] {
  const freeId = command({
    name: 'free id',
    args: fc.constantFrom(...IDS),
    run: async (model, real, id) => {
      expect(await real.views[1].freeId!(id)).toBe(model.keptIds.delete(id));
    },
  });
  return [often(6, freeId)];
}
