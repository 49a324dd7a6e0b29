import type { Events } from '../events/events.js';
import type { Clock } from '../timing/clock.js';
import type { ConfiguredHandler } from './queues.js';
import type { Stores } from './create-stores.js';

/** Replacements for Redis, time and randomness in tests. */
export interface TestOverrides {
  readonly clock: Clock;
  readonly random: () => number;
  /** Changes the waits that a handler makes itself. */
  adjust(handler: ConfiguredHandler): ConfiguredHandler;
  /** Opens the stores of an instance; called once for each. */
  openStores(instance: string, events: Events): Stores;
}
