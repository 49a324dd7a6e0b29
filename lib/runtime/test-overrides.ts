import type { Events } from '../events/events.js';
import type { Clock } from '../timing/clock.js';
import type { ConfiguredHandler } from './queues.js';
import type { Stores } from './create-stores.js';

/** Test overrides of Redis, time and randomness. */
export interface TestOverrides {
  readonly clock: Clock;
  readonly random: () => number;
  /** Changes the waits that a handler itself makes. */
  adjust(handler: ConfiguredHandler): ConfiguredHandler;
  /** Opens the stores of an instance; called once for each. */
  openStores(instance: string, events: Events): Stores;
}
