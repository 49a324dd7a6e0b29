import { type Chance, integer, pick } from '../world/chance.js';
import { AVERAGE_BLOCK, averageTime } from './conduct.js';

/** What the oracle and the workload must know of a queue. */
export interface QueueTraits {
  readonly name: string;
  readonly kind: QueueKind;
  /** The share of messages that it gets, relative to the others; 0: it has none but those that repeat. */
  readonly share: number;
  /** How many messages a process may hold at once. */
  readonly capacity: number;
  /** Of groups; null: its messages have none. */
  readonly permits: number | null;
  /** Whether a message that waits for its retry keeps its permit. */
  readonly holds: boolean;
  /** ms; null: messages do not expire. */
  readonly expiresAfter: number | null;
  /** ms; 0: messages do not wait for others. */
  readonly batchWait: number;
}

export type QueueKind =
  'plain' | 'expiring' | 'ordered' | 'shared' | 'batches' | 'crews' | 'rated' | 'repeats' | 'tenant' | 'other';

/** How a run is set up: everything that its seed decides before it begins. */
export interface Scenario {
  readonly processes: number;
  /** ms */
  readonly lease: number;
  readonly checkInterval: number;
  readonly blockTimeout: number;
  /** How long a call waits for its answer, ms. */
  readonly callTimeout: number;
  readonly shutdownTimeout: number;
  readonly attempts: number;
  readonly retryDelay: number;
  readonly concurrency: number;
  readonly partitions: number;
  readonly batch: number;
  readonly batchWait: number;
  readonly expiresAfter: number;
  readonly onExpired: 'drop' | 'dead';
  readonly rate: { readonly max: number; readonly per: number };
  readonly groups: number;
  /** The average time between two offers, ms. */
  readonly gap: number;
  /** How many messages are offered in one turn, on average. */
  readonly burst: number;
  readonly longestDelay: number;
  /** How much slower the network is than one within a rack. */
  readonly distance: number;
  /** Whether handlers keep the event loop busy, now and then for longer than a lease. */
  readonly blocks: boolean;
  /** Whether somebody sets the clock of the server. */
  readonly stepsClock: boolean;
  readonly queues: readonly QueueTraits[];
}

const TENANTS = 5;

/** The average times between two offers of a busy run, and of a quiet one, which sees more faults for as many messages, ms. */
const BUSY = [0.3, 6] as const;
const QUIET = [6, 30] as const;

/** How long a handler's slot is taken beyond the time of the handler, ms: two calls. */
const OVERHEAD = 2;

/** @param processes - undefined: drawn */
export function drawScenario(chance: Chance, processes?: number): Scenario {
  const isBusy = chance() < 0.5;
  const lease = pick(chance, [1000, 2000, 5000, 20_000]);
  const concurrency = pick(chance, [2, 8, 32, 100]);
  const batch = pick(chance, [2, 8, 50]);
  const batchWait = pick(chance, [0, 20, 300, 1500]);
  const expiresAfter = integer(chance, 300, 4000);
  const common = { permits: null, holds: false, expiresAfter: null, batchWait: 0, capacity: concurrency };
  const queues: QueueTraits[] = [
    { ...common, name: 'plain', kind: 'plain', share: 30 },
    { ...common, name: 'expiring', kind: 'expiring', share: 12, expiresAfter },
    { ...common, name: 'ordered', kind: 'ordered', share: 8, permits: 1, holds: true },
    { ...common, name: 'shared', kind: 'shared', share: 8, permits: 3 },
    { ...common, name: 'batches', kind: 'batches', share: 20, batchWait, capacity: concurrency * batch },
    { ...common, name: 'crews', kind: 'crews', share: 6, permits: 3, batchWait, capacity: concurrency * batch },
    { ...common, name: 'rated', kind: 'rated', share: 3 },
    { ...common, name: 'repeats', kind: 'repeats', share: 0 },
    ...Array.from({ length: TENANTS }, (_, i) => ({
      ...common,
      name: `tenant-${i}`,
      kind: 'tenant' as const,
      share: 1.6,
    })),
    { ...common, name: 'other', kind: 'other', share: 4 },
  ];
  const drawn = {
    processes: processes ?? integer(chance, 1, 5),
    lease,
    checkInterval: pick(chance, [2000, 5000, 15_000]),
    blockTimeout: pick(chance, [1000, 5000, 25_000]),
    callTimeout: pick(chance, [1000, 2000, 5000]),
    shutdownTimeout: pick(chance, [500, 10_000]),
    attempts: integer(chance, 2, 5),
    retryDelay: integer(chance, 50, 1500),
    concurrency,
    partitions: pick(chance, [1, 1, 3]),
    batch,
    batchWait,
    expiresAfter,
    onExpired: pick(chance, ['drop', 'dead']),
    rate: { max: integer(chance, 50, 300), per: 1000 },
    groups: pick(chance, [10, 200]),
    burst: isBusy ? pick(chance, [10, 100, 300]) : pick(chance, [1, 4, 20]),
    longestDelay: pick(chance, [500, 10_000, 60_000]),
    distance: pick(chance, [1, 1, 1, 8]),
    blocks: chance() < 0.25,
    // Each feature is missing from some runs, so that no other hides behind it.
    queues: queues.filter(({ kind }) => kind === 'plain' || chance() < 0.8),
    stepsClock: chance() < 0.2,
  };
  const [shortest, longest] = isBusy ? BUSY : QUIET;
  const gap = shortest * (longest / shortest) ** chance();
  return { ...drawn, gap: Math.max(gap, sustainableGap(drawn)) };
}

/** The average time between two offers that leaves every queue half of its capacity, ms. */
function sustainableGap(scenario: Omit<Scenario, 'gap'>): number {
  const { queues, processes, concurrency, groups, rate, retryDelay, lease, blocks } = scenario;
  const all = queues.reduce((sum, { share }) => sum + share, 0);
  const time = averageTime(lease) + OVERHEAD * scenario.distance;
  const gaps = queues.map(({ kind, share, permits, holds }) => {
    // A message that waits for its retry keeps its group waiting.
    const ofGroup = permits === null ? 0 : (time + (holds ? retryDelay / 10 : 0)) / (groups * permits);
    const ofRate = kind === 'rated' ? rate.per / rate.max : 0;
    return (share / all) * Math.max(time / (processes * concurrency), ofGroup, ofRate);
  });
  return 2 * Math.max(...gaps, blocks ? AVERAGE_BLOCK / processes : 0);
}
