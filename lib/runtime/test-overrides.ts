import type { Events } from '../events/events.js';
import type { Clock } from '../timing/clock.js';
import type { ConfiguredHandler } from './queues.js';
import type { Stores } from './create-stores.js';

/** Test overrides of Redis, time and chance. */
export interface TestOverrides {
  readonly clock: Clock;
  readonly random: () => number;
  /** Changes what a handler waits for by itself. */
  adjust(handler: ConfiguredHandler): ConfiguredHandler;
  /** Opens the stores of an instance; called once for each. */
  openStores(instance: string, events: Events): Stores;
}
