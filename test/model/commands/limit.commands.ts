import fc from 'fast-check';
import { command, often, type WeightedCommands } from './command.js';

/** Changes of limits while a queue is in use. The store and the model have the same limits. */
export function limitCommands(): WeightedCommands[] {
  const limit = command({
    name: 'limit',
    args: fc.constantFrom(null, 1, 3),
    run: (model, _real, globalConcurrency) => {
      // With more active messages than that, the store may wake a consumer in vain or not, which the contract's rules leave open, too.
      if (globalConcurrency !== null && model.in('active').length > globalConcurrency) return Promise.resolve();
      Object.assign(model.limits, { globalConcurrency });
      // Whoever takes it may find no room.
      if (model.wakeSignal === 'sent') model.wakeSignal = 'stale';
      return Promise.resolve();
    },
  });
  return [often(3, limit)];
}
