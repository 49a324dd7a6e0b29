import { expect } from '@jest/globals';
import fc from 'fast-check';
import { command, often, type WeightedCommands } from './command.js';

/** The commands for a whole queue. */
export function queueCommands(canAdvance: boolean): WeightedCommands[] {
  const pause = command({
    name: 'pause',
    args: fc.constant(null),
    run: async (model, real) => {
      await real.views[0].pause();
      model.paused = true;
    },
  });

  const resume = command({
    name: 'resume',
    args: fc.constant(null),
    run: async (model, real) => {
      await real.views[1].resume();
      model.resume();
    },
  });

  const clear = command({
    name: 'clear',
    args: fc.constant(null),
    run: async (model, real) => {
      expect(await real.views[0].clear()).toBe(model.clear());
    },
  });

  const advance = command({
    name: 'advance',
    args: fc.constantFrom(1, 0.4, 5, 20, 1_800_000, 3_600_000),
    run: async (_model, real, ms) => {
      await real.advance?.(ms);
    },
  });

  return [often(3, pause), often(9, resume), often(1, clear), ...(canAdvance ? [often(12, advance)] : [])];
}
