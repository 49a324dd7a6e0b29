import { burst, burstOfAMillion } from './burst.js';
import { drain } from './drain.js';
import { fairness } from './fairness.js';
import { growth, hugeGrowth } from './growth.js';
import { herd } from './herd.js';
import { idle } from './idle.js';
import { lateness } from './lateness.js';
import { lone } from './lone.js';
import { memory } from './memory.js';
import { nobodyListens } from './nobody-listens.js';
import { offers } from './offers.js';
import { pending } from './pending.js';
import type { Scenario } from './scenario.js';
import { shards } from './shards.js';
import { sockets } from './sockets.js';
import { startup } from './startup.js';
import { steady } from './steady.js';
import { twoConsumers } from './two-consumers.js';

/** In the order of the table. */
export const SCENARIOS: readonly Scenario[] = [
  offers,
  drain,
  steady,
  lateness,
  lone,
  burst,
  burstOfAMillion,
  memory,
  idle,
  growth,
  hugeGrowth,
  herd,
  startup,
  nobodyListens,
  twoConsumers,
  pending,
  sockets,
  shards,
  fairness,
];
