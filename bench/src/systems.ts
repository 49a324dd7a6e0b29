import { missingJava, REDISSON_LINES, redissonVersion } from '../../packages/redisson/test/java/java-build.js';
import type { Adapter } from './adapters/adapter.js';
import { type Feature, FEATURES, NO_FEATURE } from './features.js';
import { missingPostgres } from './servers/find-postgres.js';

/** A system that can be measured. */
export interface System {
  readonly name: string;
  readonly title: string;
  /** Loads the system in the process that runs it, so that no system pays for the code of another. */
  readonly load: (libraryFolder: string) => Promise<Adapter>;
  /** The server that it needs. Default: Redis. */
  readonly server?: 'postgres';
  /** True if a queue can have several consumers. */
  readonly manyConsumers: boolean;
  /** True if its adapter can serve many queues. */
  readonly manyQueues?: boolean;
  /** True if its offers are the same as another system's, so they are measured once. */
  readonly borrowsOffers?: boolean;
  /** The scenarios that it takes part in. Default: all. */
  readonly scenarios?: readonly string[];
  /** Measured only if it is named with `--systems`. */
  readonly onRequest?: boolean;
  /** Why it cannot be measured on this machine, in words, or undefined. */
  readonly problem?: () => string | undefined;
}

export const OURS = 'ours';
export const BASELINE = 'baseline';
export const EARLIER = 'earlier';
export const GROUPS = 'groups';
export const GROUP_RATES = 'group-rates';
export const HISTORY = 'history';
export const KEPT_IDS = 'kept-ids';

/** The name of the system whose neighbour uses that feature. */
export const besideOf = (feature: Feature): string => `beside-${feature.replace(' ', '-')}`;

/** Over how many partitions a queue is spread, besides none. */
const PARTITIONS = [3, 12, 16];

const loadOurs = async (folder: string) => (await import('./adapters/ours.js')).createAdapter(folder);
const loadRedissonLayout = async (folder: string) => {
  const { redisson } = await import('nestjs-delay-queue-redisson');
  return (await import('./adapters/ours.js')).createAdapter(folder, { defaults: { layout: redisson() } });
};
const loadBeside = async (feature: Feature, folder: string) => {
  const { NEIGHBOURS } = await import('./adapters/neighbours.js');
  return (await import('./adapters/ours.js')).createAdapter(folder, { neighbour: NEIGHBOURS[feature] });
};
/** Java offers, and this package handles. */
const loadOffersOfJava = async (folder: string): Promise<Adapter> => {
  const java = (await import('./adapters/redisson.js')).createAdapter('4');
  const layout = await loadRedissonLayout(folder);
  return {
    openProducer: (server) => java.openProducer(server),
    startConsumer: (server, handle) => layout.startConsumer(server, handle),
  };
};

/** In the order of the columns. */
export const SYSTEMS: readonly System[] = [
  { name: OURS, title: 'this package', load: loadOurs, manyConsumers: true, manyQueues: true },
  {
    name: BASELINE,
    title: 'baseline',
    load: async () => (await import('./adapters/baseline/baseline.js')).adapter,
    manyConsumers: false,
  },
  {
    name: 'bullmq',
    title: 'BullMQ',
    load: async () => (await import('./adapters/bullmq.js')).adapter,
    manyConsumers: true,
    manyQueues: true,
  },
  {
    name: 'bee-queue',
    title: 'bee-queue',
    load: async () => (await import('./adapters/bee-queue.js')).adapter,
    manyConsumers: true,
  },
  {
    name: 'pg-boss',
    title: 'pg-boss',
    load: async () => (await import('./adapters/pg-boss.js')).adapter,
    server: 'postgres',
    manyConsumers: true,
    // The others measure Redis.
    scenarios: [
      'offers',
      'drain',
      'steady',
      'lateness',
      'lone',
      'burst',
      'herd',
      'startup',
      'nobody-listens',
      'two-consumers',
      'fairness',
    ],
    problem: missingPostgres,
  },
  {
    name: 'expired-keys',
    title: 'expired keys',
    load: async () => (await import('./adapters/expired-keys.js')).adapter,
    manyConsumers: true,
    // In the others a consumer starts after messages have fallen due, or several share the messages.
    scenarios: ['offers', 'steady', 'lateness', 'lone', 'burst', 'memory', 'idle', 'nobody-listens', 'two-consumers'],
  },
  // This package with a queue that is spread over a cluster.
  ...PARTITIONS.map((partitions) => ({
    name: `partitions-${partitions}`,
    title: `${partitions} partitions`,
    load: async (folder: string) =>
      (await import('./adapters/ours.js')).createAdapter(folder, { defaults: { partitions } }),
    manyConsumers: true,
    scenarios: ['shards'],
    onRequest: true,
  })),
  // This package with messages of so many customers.
  {
    name: GROUPS,
    title: '1,000 groups',
    load: async (folder: string) =>
      (await import('./adapters/ours.js')).createAdapter(folder, {
        defaults: { groups: { concurrency: 1 } },
        groups: 1000,
      }),
    manyConsumers: true,
    scenarios: ['drain', 'memory'],
    onRequest: true,
  },
  // The same, and each customer has a rate that is not reached.
  {
    name: GROUP_RATES,
    title: '1,000 groups with a rate',
    load: async (folder: string) =>
      (await import('./adapters/ours.js')).createAdapter(folder, {
        defaults: { groups: { concurrency: 1, rate: { max: 100_000, per: '1h' } } },
        groups: 1000,
      }),
    manyConsumers: true,
    scenarios: ['drain', 'memory'],
    onRequest: true,
  },
  // This package with a queue that remembers what was handled.
  {
    name: HISTORY,
    title: 'history',
    load: async (folder: string) =>
      (await import('./adapters/ours.js')).createAdapter(folder, { defaults: { history: { for: '1h' } } }),
    manyConsumers: true,
    scenarios: ['drain', 'memory'],
    onRequest: true,
  },
  // This package with a queue that keeps the ids of handled messages.
  {
    name: KEPT_IDS,
    title: 'kept ids',
    load: async (folder: string) =>
      (await import('./adapters/ours.js')).createAdapter(folder, { defaults: { idsFor: { for: '1h' } } }),
    manyConsumers: true,
    scenarios: ['drain', 'memory'],
    onRequest: true,
  },
  // This package on a queue that Java shares.
  { name: 'redisson-layout', title: 'layout redisson', load: loadRedissonLayout, manyConsumers: true },
  {
    name: 'offers-of-java',
    title: 'layout redisson, offers of Java',
    load: loadOffersOfJava,
    manyConsumers: true,
    borrowsOffers: true,
    scenarios: ['pending'],
    onRequest: true,
    problem: missingJava,
  },
  // Real Redisson. The other scenarios warm Java up too little, measure the way from Node.js to Java, or need what
  // Redisson cannot do.
  ...REDISSON_LINES.map((line) => ({
    name: `redisson-${line}`,
    title: `Redisson ${redissonVersion(line)}`,
    load: async () => (await import('./adapters/redisson.js')).createAdapter(line),
    manyConsumers: true,
    scenarios: ['memory', 'pending'],
    onRequest: true,
    problem: missingJava,
  })),
  // This package in an application with another queue, which uses a feature.
  ...([NO_FEATURE, ...FEATURES] as const).map((feature) => ({
    name: besideOf(feature),
    title: `beside a queue with ${feature}`,
    load: (folder: string) => loadBeside(feature, folder),
    manyConsumers: true,
    onRequest: true,
  })),
  // This package from another folder: a build of an earlier commit, given with --against.
  { name: EARLIER, title: 'earlier build', load: loadOurs, manyConsumers: true, manyQueues: true },
];

export function systemOf(name: string): System {
  const system = SYSTEMS.find((candidate) => candidate.name === name);
  if (!system) throw new Error(`There is no system '${name}', only ${SYSTEMS.map((known) => known.name).join(', ')}`);
  return system;
}
