import { parseArgs } from 'node:util';

export type Layout = 'native' | 'redisson';

/** The settings of a soak. */
export interface SoakSettings {
  /** The same seed gives the same messages and the same fault plan. */
  readonly seed: number;
  /** The time for which messages are offered and faults happen, seconds. */
  readonly seconds: number;
  /** Messages that all producers together offer each second. */
  readonly rate: number;
  /** The mean time between faults, seconds; 0 for none. */
  readonly faultsEvery: number;
  /** The kinds of faults by name; all but those that make Redis forget if undefined. */
  readonly kinds?: readonly string[];
  /** How some handlers misbehave. */
  readonly handlers: readonly Misbehaviour[];
  /** The longest delay of an offer, ms. */
  readonly maxDelay: number;
  readonly producers: number;
  readonly workers: number;
  /** The Redis to which they connect. */
  readonly redis: Redis;
  /** The number of replicas that must have what producers write, before it counts as acknowledged. */
  readonly acknowledge: number;
  /** The number of partitions that each queue has. */
  readonly partitions: number;
  /** The layout of all queues. */
  readonly layout: Layout;
  /** The number of messages of a group that are handled at once; 0: messages have no groups. */
  readonly groups: number;
  /** True if queues have rates, also of each group, a global concurrency and a history. */
  readonly limits: boolean;
  /** The consumer: the module, or a naive one whose known faults the oracle must catch. */
  readonly consumer: ConsumerKind;
  /** The folder for journals, logs and the report. */
  readonly out: string;
  /** True to keep the journals of a green run too. */
  readonly keepJournals: boolean;
}

/** `one`: a single server. `sentinel`: a primary with two replicas. `cluster`: three primaries, each with a replica. */
export type Redis = 'one' | 'sentinel' | 'cluster';

/**
 * `module` is this package. The others are naive: they make their own transfers and pop the messages themselves. `lossy` is
 * killed while it holds some, `early` takes messages before they are due, `double` hands each out twice, `sound` does none
 * of this. `crowding` is the module again, but its groups have one more permit than the run asks for.
 */
export type ConsumerKind = 'module' | 'crowding' | 'sound' | 'lossy' | 'early' | 'double';

export type NaiveConsumer = Exclude<ConsumerKind, 'module' | 'crowding'>;

export function isNaive(consumer: ConsumerKind): consumer is NaiveConsumer {
  return consumer !== 'module' && consumer !== 'crowding';
}

/**
 * `blocking`: they block the event loop. `throwing`: they throw errors that throw when they are read. `thenable`: they
 * return a thenable that calls back twice. `hanging`: the observers of some processes never call `next`.
 */
export type Misbehaviour = (typeof MISBEHAVIOURS)[number];

const MISBEHAVIOURS = ['blocking', 'throwing', 'thenable', 'hanging'] as const;

/** Messages each second if they have groups: a group with one permit handles its messages one after the other. */
const RATE_OF_GROUPS = 200;

export const DEFAULT_SETTINGS: SoakSettings = {
  seed: 1,
  seconds: 600,
  rate: 2000,
  faultsEvery: 2,
  handlers: MISBEHAVIOURS,
  maxDelay: 10_000,
  producers: 2,
  workers: 4,
  redis: 'one',
  acknowledge: 0,
  partitions: 1,
  layout: 'native',
  groups: 0,
  limits: false,
  consumer: 'module',
  out: 'soak-report',
  keepJournals: false,
};

export function settingsFrom(args: readonly string[]): SoakSettings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string' },
      seed: { type: 'string' },
      rate: { type: 'string' },
      'faults-every': { type: 'string' },
      kinds: { type: 'string' },
      handlers: { type: 'string' },
      workers: { type: 'string' },
      producers: { type: 'string' },
      cluster: { type: 'boolean' },
      sentinel: { type: 'boolean' },
      acknowledge: { type: 'string' },
      partitions: { type: 'string' },
      layout: { type: 'string' },
      groups: { type: 'string' },
      limits: { type: 'boolean' },
      consumer: { type: 'string' },
      out: { type: 'string' },
      'keep-journals': { type: 'boolean' },
    },
  });
  const defaults = DEFAULT_SETTINGS;
  const consumer = values.consumer ?? defaults.consumer;
  if (!isConsumerKind(consumer)) throw new Error(`--consumer must be one of ${CONSUMERS.join(', ')}`);
  const layout = values.layout ?? defaults.layout;
  if (layout !== 'native' && layout !== 'redisson') throw new Error('--layout must be native or redisson');
  if (layout !== 'native' && isNaive(consumer)) throw new Error('--consumer needs --layout native');
  const { cluster = false, sentinel = false } = values;
  if (cluster && sentinel) throw new Error('--cluster and --sentinel exclude each other');
  const redis = cluster ? 'cluster' : sentinel ? 'sentinel' : 'one';
  if (redis !== 'one' && isNaive(consumer)) throw new Error('--consumer needs a single server');
  const partitions = wholeNumber('partitions', values.partitions, partitionsOn(redis, layout));
  if (partitions > 1 && layout !== 'native') throw new Error('--partitions needs --layout native');
  if (partitions > 1 && isNaive(consumer)) throw new Error('--partitions needs the module as consumer');
  const groups = groupsFrom(values.groups, { layout, consumer });
  const { limits = false } = values;
  if (limits && (layout !== 'native' || isNaive(consumer)))
    throw new Error('--limits needs --layout native and the module as consumer');
  const acknowledge =
    values.acknowledge === undefined ? 0 : wholeNumber('acknowledge', values.acknowledge, defaults.acknowledge);
  if (acknowledge > 0 && redis === 'one') throw new Error('--acknowledge needs --cluster or --sentinel');
  return {
    ...defaults,
    seed: wholeNumber('seed', values.seed, defaults.seed),
    seconds: positive('minutes', values.minutes, defaults.seconds / 60) * 60,
    rate: positive('rate', values.rate, groups > 0 ? RATE_OF_GROUPS : defaults.rate),
    faultsEvery:
      values['faults-every'] === '0' ? 0 : positive('faults-every', values['faults-every'], defaults.faultsEvery),
    handlers: values.handlers === undefined ? defaults.handlers : misbehavioursFrom(values.handlers),
    workers: wholeNumber('workers', values.workers, defaults.workers),
    producers: wholeNumber('producers', values.producers, defaults.producers),
    ...{ redis, acknowledge, partitions, layout, groups, limits, consumer },
    out: values.out ?? defaults.out,
    keepJournals: values['keep-journals'] ?? defaults.keepJournals,
    ...(values.kinds !== undefined && { kinds: values.kinds.split(',') }),
  };
}

function groupsFrom(text: string | undefined, { layout, consumer }: Pick<SoakSettings, 'layout' | 'consumer'>): number {
  if (text === undefined) {
    if (consumer === 'crowding') throw new Error('--consumer crowding needs --groups');
    return 0;
  }
  if (layout !== 'native') throw new Error('--groups needs --layout native');
  if (isNaive(consumer)) throw new Error('--groups needs the module as consumer');
  return wholeNumber('groups', text, 1);
}

/** In a cluster, enough that every queue is on all primaries. */
function partitionsOn(redis: Redis, layout: Layout): number {
  return redis === 'cluster' && layout === 'native' ? 4 : 1;
}

const CONSUMERS: readonly ConsumerKind[] = ['module', 'crowding', 'sound', 'lossy', 'early', 'double'];

function isConsumerKind(word: string): word is ConsumerKind {
  return (CONSUMERS as readonly string[]).includes(word);
}

function misbehavioursFrom(text: string): Misbehaviour[] {
  if (text === 'good') return [];
  return text.split(',').map((word) => {
    const known = MISBEHAVIOURS.find((candidate) => candidate === word);
    if (!known) throw new Error(`--handlers must be good, or some of ${MISBEHAVIOURS.join(', ')}`);
    return known;
  });
}

function positive(name: string, text: string | undefined, preset: number): number {
  const value = text === undefined ? preset : Number(text);
  if (!(value > 0 && value < Infinity)) throw new Error(`--${name} must be a positive number, not ${text}`);
  return value;
}

function wholeNumber(name: string, text: string | undefined, preset: number): number {
  const value = positive(name, text, preset);
  if (!Number.isSafeInteger(value)) throw new Error(`--${name} must be a whole number, not ${text}`);
  return value;
}
