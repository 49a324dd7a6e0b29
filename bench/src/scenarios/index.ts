import { drain } from './drain.js';
import { lateness } from './lateness.js';
import { memory } from './memory.js';
import { offers } from './offers.js';
import type { Scenario } from './scenario.js';

/** In the order of the table. */
export const SCENARIOS: readonly Scenario[] = [offers, drain, lateness, memory];
