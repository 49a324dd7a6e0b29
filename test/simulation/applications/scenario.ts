import type { Rate } from '../../../lib/store/message-store.js';
import { type Chance, integer, pick } from '../world/chance.js';
import { averageTimes } from './conduct.js';

/** The traits of a queue that the oracle and the workload must know. */
export interface QueueTraits {
  readonly name: string;
  readonly kind: QueueKind;
  /** The share of messages that it gets in quiet phases, relative to the others; 0: it has none but those that repeat. */
  readonly share: number;
  /** The number of calls of its handler that run at once in a process. */
  readonly concurrency: number;
  /** The number of messages that a process may hold at once. */
  readonly capacity: number;
  /** Of groups; null: its messages have none. */
  readonly permits: number | null;
  /** True if a message that waits for its retry keeps its permit. */
  readonly holds: boolean;
  /** How many messages of each group may be claimed within a length of time; null: any number. */
  readonly groupRate: Rate | null;
  /** The number of messages that all processes may hold at once; null: no limit. */
  readonly globalConcurrency: number | null;
  /** ms; null: messages do not expire. */
  readonly expiresAfter: number | null;
  /** ms; 0: messages do not wait for others. */
  readonly batchWait: number;
}

export type QueueKind =
  | 'plain'
  | 'expiring'
  | 'ordered'
  | 'shared'
  | 'batches'
  | 'crews'
  | 'paced'
  | 'rated'
  | 'limited'
  | 'repeats'
  | 'tenant'
  | 'typed'
  | 'other';

/** The kinds of queues that have a history. */
export const WITH_HISTORY: readonly QueueKind[] = ['plain', 'ordered', 'batches'];

/** The kinds of queues that keep the ids of handled messages, in runs in which any do. */
const WITH_KEPT_IDS: readonly QueueKind[] = ['plain', 'expiring', 'shared'];

export const keepsIds = ({ kind }: Pick<QueueTraits, 'kind'>, { idsFor }: Pick<Scenario, 'idsFor'>): boolean =>
  idsFor !== null && WITH_KEPT_IDS.includes(kind);

/** Of an application: the next one takes its place while the system runs. */
export type Release = 0 | 1;

/** How messages come in a phase of a run. */
export interface Pace {
  /** The average time between two offers, ms. */
  readonly gap: number;
  /** The number of messages that are offered in one turn, on average. */
  readonly burst: number;
  /** The number of messages that each queue gets, relative to the others. */
  readonly shares: readonly number[];
}

/** How a run is set up: everything that its seed decides before it begins. */
export interface Scenario {
  readonly processes: number;
  /** ms */
  readonly lease: number;
  readonly checkInterval: number;
  readonly blockTimeout: number;
  /** The time for which a call waits for its answer, ms. */
  readonly callTimeout: number;
  readonly shutdownTimeout: number;
  readonly attempts: number;
  readonly retryDelay: number;
  readonly partitions: number;
  readonly batch: number;
  readonly batchWait: number;
  readonly expiresAfter: number;
  readonly onExpired: 'drop' | 'dead';
  readonly rate: Rate;
  readonly groups: number;
  /** Each message has calls of its own: few coincide, which shows what hides in a crowd. */
  readonly quiet: Pace;
  /** As many messages as the handlers can take: calls are shared. */
  readonly busy: Pace;
  /** True if the message with this number is offered in a busy phase. */
  readonly isBusyAt: (message: number) => boolean;
  readonly maxDelay: number;
  /** How much slower the network is than one within a rack. */
  readonly distance: number;
  /** True if handlers keep the event loop busy, now and then for longer than a lease. */
  readonly blocks: boolean;
  /** The first message that is offered when the next release takes the place of the first, process by process; Infinity: none does. */
  readonly deployedFrom: number;
  /** True if a replica of the server takes its place once, which does not know the last instants. */
  readonly failsOver: boolean;
  /** True if somebody sets the clock of the server. */
  readonly stepsClock: boolean;
  /** True if messages are encrypted; the next release has a new key. */
  readonly isEncrypted: boolean;
  /** How long ids of handled messages are kept, ms, and how many; null: none are. */
  readonly idsFor: { readonly for: number; readonly max: number } | null;
  readonly queues: readonly QueueTraits[];
}

const TENANTS = 24;

/** Draws a queue: each kind is as likely, however few messages it gets. Those that repeat are left alone. */
export function drawQueue(chance: Chance, queues: readonly QueueTraits[], otherThan?: QueueKind): QueueTraits {
  const drawn = queues.filter(({ share, kind }) => share > 0 && kind !== otherThan);
  const kind = pick(chance, [...new Set(drawn.map((queue) => queue.kind))] as [QueueKind]);
  return pick(chance, drawn.filter((queue) => queue.kind === kind) as [QueueTraits]);
}

/** True if a queue belongs to the family. */
export const isOfFamily = (queue: string): boolean => queue.startsWith('tenant-');

/** The average time between two offers, ms: of quiet phases, and of busy ones whose queues can take it. */
const QUIET = [4, 300] as const;
const BUSY = [0.1, 0.6] as const;

/** The number of messages of a quiet phase, and the number in the following busy phase for each of them, where a life costs a tenth. */
const QUIET_MESSAGES = [300, 2000] as const;
const BUSY_FOR_QUIET = 30;

/** The shares of busy phases that differ: messages of groups have calls of their own anyway. */
const CROWD: Partial<Record<QueueKind, number>> = { ordered: 2, shared: 2, crews: 4, batches: 30 };

/** The time for which a slot is taken beyond the time of its handler, ms: two calls. */
const OVERHEAD = 2;

/** @param wanted - `processes` undefined: drawn; `isQuiet`: there are no busy phases */
export function drawScenario(
  chance: Chance,
  wanted: { readonly processes: number | undefined; readonly isQuiet: boolean },
): Scenario {
  const lease = pick(chance, [1000, 2000, 5000, 20_000]);
  // With few kinds of queues, each gets many messages.
  const isNarrow = chance() < 0.3;
  const isPresent = ({ kind }: QueueTraits) => kind === 'plain' || chance() < (isNarrow ? 0.2 : 0.8);
  const batch = pick(chance, [2, 4, 4, 8, 8, 50]);
  const batchWait = pick(chance, [0, 20, 20, 100, 100, 1500]);
  // What is about to expire when it is claimed shows whose clock counts.
  const expiresAfter = chance() < 0.5 ? integer(chance, 60, 300) : integer(chance, 300, 4000);
  // Some of these expire while they wait for others of their batch.
  const batchExpiresAfter = chance() < 0.3 ? 60 + integer(chance, 0, 2 * batchWait) : null;
  const queueOf = (kind: QueueKind, share: number, traits: Partial<QueueTraits> = {}): QueueTraits => {
    const isBatched = kind === 'batches' || kind === 'crews';
    // Batches wait for each other only where few calls run at once.
    const concurrency = pick(chance, isBatched ? [2, 2, 2, 2, 2, 8, 32] : [2, 8, 32, 32, 100]);
    const capacity = isBatched ? concurrency * batch : concurrency;
    const none = {
      permits: null,
      holds: false,
      groupRate: null,
      globalConcurrency: null,
      expiresAfter: null,
      batchWait: 0,
    };
    return { ...none, name: kind, kind, share, concurrency, capacity, ...traits };
  };
  // A queue that seldom has a message is asleep when one comes.
  const tenant = queueOf('tenant', pick(chance, [0.05, 0.2, 0.5]));
  const queues = [
    queueOf('plain', isNarrow ? 3 : 30),
    queueOf('expiring', 12, { expiresAfter }),
    queueOf('ordered', 8, { permits: 1, holds: true }),
    queueOf('shared', 8, { permits: 3 }),
    // Most of its messages come in crowds.
    queueOf('batches', 5, { batchWait, expiresAfter: batchExpiresAfter }),
    queueOf('crews', 6, { permits: 3, batchWait }),
    queueOf('paced', 4, {
      permits: pick(chance, [1, 3]),
      holds: true,
      groupRate: { max: integer(chance, 3, 10), per: 1000 },
    }),
    queueOf('rated', 3),
    queueOf('limited', 4, { globalConcurrency: pick(chance, [1, 4, 20]) }),
    queueOf('repeats', 0),
    queueOf('typed', 8),
    ...Array.from({ length: TENANTS }, (_, i) => ({ ...tenant, name: `tenant-${i}` })),
    queueOf('other', 4),
  ];
  const drawn = {
    // What one process misses, another one often makes up for.
    processes: wanted.processes ?? pick(chance, [1, 1, 2, 3, 4, 5]),
    lease,
    checkInterval: pick(chance, [2000, 5000, 15_000, 15_000]),
    blockTimeout: pick(chance, [1000, 5000, 25_000]),
    callTimeout: pick(chance, [1000, 2000, 5000, 5000]),
    shutdownTimeout: pick(chance, [500, 10_000]),
    attempts: integer(chance, 2, 5),
    retryDelay: integer(chance, 50, 1500),
    partitions: pick(chance, [1, 1, 3]),
    batch,
    batchWait,
    expiresAfter,
    onExpired: pick(chance, ['drop', 'dead']),
    rate: { max: integer(chance, 50, 300), per: 1000 },
    groups: pick(chance, [3, 10, 200]),
    maxDelay: pick(chance, [500, 10_000, 60_000]),
    distance: pick(chance, [1, 1, 1, 8]),
    blocks: chance() < 0.35,
    // Each feature is missing from some runs, so that no other hides behind it.
    queues: queues.filter(isPresent),
    deployedFrom: chance() < 0.4 ? Math.round(300 * 60 ** chance()) : Infinity,
    stepsClock: chance() < 0.2,
    failsOver: chance() < 0.2,
    isEncrypted: chance() < 0.3,
  };
  const phases = drawPhases(chance, drawn);
  const idsFor = pick(chance, [
    null,
    { for: 2000, max: 10_000 },
    { for: 30_000, max: 10_000 },
    { for: 60_000, max: 20 },
  ]);
  return { ...drawn, ...phases, idsFor, ...(wanted.isQuiet && { isBusyAt: () => false }) };
}

function drawPhases(
  chance: Chance,
  scenario: Omit<Scenario, 'quiet' | 'busy' | 'isBusyAt' | 'idsFor'>,
): Pick<Scenario, 'quiet' | 'busy' | 'isBusyAt'> {
  const { queues, processes } = scenario;
  const drawGap = ([shortest, longest]: readonly [number, number]) => shortest * (longest / shortest) ** chance();
  const of = (isBusy: boolean) => ({ ...scenario, isBusy });
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  const all = sum(queues.map(({ share }) => share));
  const slowest = (isBusy: boolean) => (2 * averageTimes(of(isBusy)).spins) / processes;

  const gaps = queues.map((traits) => (traits.share / all) * sustainableGap(traits, of(false)));
  const quiet = {
    gap: Math.max(drawGap(QUIET), slowest(false), ...gaps),
    burst: pick(chance, [1, 4, 20, 20]),
    shares: queues.map(({ share }) => share),
  };
  const gap = Math.max(drawGap(BUSY), slowest(true));
  const rates = queues.map((traits) =>
    Math.min((CROWD[traits.kind] ?? traits.share) / all / gap, 1 / sustainableGap(traits, of(true))),
  );
  const busy = { gap: 1 / sum(rates), burst: pick(chance, [64, 200, 500]), shares: rates };

  const count = integer(chance, ...QUIET_MESSAGES);
  const cycle = (1 + BUSY_FOR_QUIET) * count;
  const offset = integer(chance, 0, cycle - 1);
  return { quiet, busy, isBusyAt: (message) => (message + offset) % cycle >= count };
}

/** The average time between two offers to a queue that leaves half of its capacity, ms. */
function sustainableGap(
  { kind, concurrency, permits, holds, groupRate, globalConcurrency, batchWait }: QueueTraits,
  scenario: Omit<Scenario, 'quiet' | 'busy' | 'isBusyAt' | 'idsFor'> & { readonly isBusy: boolean },
): number {
  const { processes, batch, groups, rate, retryDelay, distance } = scenario;
  const { takes } = averageTimes(scenario);
  const most = kind === 'crews' ? Math.min(batch, permits!) : batch;
  // A batch of one group that has fewer permits than places never fills up.
  const waits = most < batch ? batchWait : 0;
  const time = takes + waits + OVERHEAD * distance;
  const perCall = kind === 'batches' || kind === 'crews' ? takes + (waits + OVERHEAD * distance) / most : time;
  // A message that waits for its retry keeps its group waiting.
  const ofGroup = permits === null ? 0 : (time + (holds ? retryDelay / 10 : 0)) / (groups * permits);
  const ofRate = kind === 'rated' ? rate.per / rate.max : groupRate ? groupRate.per / groupRate.max / groups : 0;
  const atOnce = Math.min(processes * concurrency, globalConcurrency ?? Infinity);
  return 2 * Math.max(perCall / atOnce, ofGroup, ofRate);
}

/** Returns the attempts that a message is offered with; undefined for most, which have those of their queue. */
export function ownAttemptsOf(message: number): number | undefined {
  return message % 6 === 5 ? 1 + (Math.floor(message / 6) % 6) : undefined;
}

/** The types of the queue `typed`, by the release that brings a handler for them. */
export const TYPES = ['first', 'second'] as const;

/** Which release brings a handler for the type of a message. */
export const releaseFor = (message: number, { deployedFrom }: Pick<Scenario, 'deployedFrom'>): Release =>
  message >= deployedFrom && message % 2 === 1 ? 1 : 0;

/** Returns the number of concurrent handlers of a process, which differs between the releases. */
export const scaled = (count: number, release: Release): number =>
  release === 0 ? count : count > 8 ? count / 2 : 2 * count;
