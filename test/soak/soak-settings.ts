import { parseArgs } from 'node:util';
import type { QueueOptions } from '../../lib/index.js';

export type Layout = NonNullable<QueueOptions['layout']>;

/** What one soak is. */
export interface SoakSettings {
  /** The same seed gives the same messages and the same plan of faults. */
  readonly seed: number;
  /** How long messages are offered and faults happen, seconds. */
  readonly seconds: number;
  /** Messages offered a second, by all producers together. */
  readonly rate: number;
  /** Mean time between faults, seconds; 0: none happen. */
  readonly faultsEvery: number;
  /** The kinds of faults, by their names; undefined: all there are. */
  readonly kinds?: readonly string[];
  /** How handlers misbehave besides. */
  readonly handlers: readonly Misbehaviour[];
  /** The longest delay of an offer, ms. */
  readonly longestDelay: number;
  readonly producers: number;
  readonly workers: number;
  /** Of all queues. */
  readonly layout: Layout;
  /** Who handles: the module, or a consumer of known faultiness that the oracle must catch. */
  readonly consumer: ConsumerKind;
  /** The folder of journals, logs and report. */
  readonly out: string;
  /** Journals of a green run are kept too. */
  readonly keepJournals: boolean;
}

/**
 * `module`: this package. The others are naive: they transfer by themselves and pop the message itself. `lossy` is killed
 * while it holds one, `early` takes messages before they are due, `double` hands each out twice, `sound` does nothing of it.
 */
export type ConsumerKind = 'module' | 'sound' | 'lossy' | 'early' | 'double';

/**
 * `blocking`: the event loop stands still meanwhile. `throwing`: what they throw cannot be looked at. `thenable`: what they
 * return calls back twice.
 */
export type Misbehaviour = (typeof MISBEHAVIOURS)[number];

const MISBEHAVIOURS = ['blocking', 'throwing', 'thenable'] as const;

export const DEFAULT_SETTINGS: SoakSettings = {
  seed: 1,
  seconds: 600,
  rate: 2000,
  faultsEvery: 2,
  handlers: MISBEHAVIOURS,
  longestDelay: 10_000,
  producers: 2,
  workers: 4,
  layout: 'native',
  consumer: 'module',
  out: 'soak-report',
  keepJournals: false,
};

/** Reads the settings from the command line. */
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
      layout: { type: 'string' },
      consumer: { type: 'string' },
      out: { type: 'string' },
      'keep-journals': { type: 'boolean' },
    },
  });
  const defaults = DEFAULT_SETTINGS;
  const consumer = values.consumer ?? defaults.consumer;
  if (!isConsumerKind(consumer)) throw new Error(`--consumer is one of ${CONSUMERS.join(', ')}`);
  const layout = values.layout ?? defaults.layout;
  if (layout !== 'native' && layout !== 'redisson') throw new Error('--layout is native or redisson');
  if (layout !== 'native' && consumer !== 'module') throw new Error('--consumer goes with --layout native only');
  return {
    ...defaults,
    seed: wholeNumber('seed', values.seed, defaults.seed),
    seconds: positive('minutes', values.minutes, defaults.seconds / 60) * 60,
    rate: positive('rate', values.rate, defaults.rate),
    faultsEvery:
      values['faults-every'] === '0' ? 0 : positive('faults-every', values['faults-every'], defaults.faultsEvery),
    handlers: values.handlers === undefined ? defaults.handlers : misbehavioursFrom(values.handlers),
    workers: wholeNumber('workers', values.workers, defaults.workers),
    producers: wholeNumber('producers', values.producers, defaults.producers),
    layout,
    consumer,
    out: values.out ?? defaults.out,
    keepJournals: values['keep-journals'] ?? defaults.keepJournals,
    ...(values.kinds !== undefined && { kinds: values.kinds.split(',') }),
  };
}

const CONSUMERS: readonly ConsumerKind[] = ['module', 'sound', 'lossy', 'early', 'double'];

function isConsumerKind(word: string): word is ConsumerKind {
  return (CONSUMERS as readonly string[]).includes(word);
}

function misbehavioursFrom(text: string): Misbehaviour[] {
  if (text === 'good') return [];
  return text.split(',').map((word) => {
    const known = MISBEHAVIOURS.find((candidate) => candidate === word);
    if (!known) throw new Error(`--handlers is good, or some of ${MISBEHAVIOURS.join(', ')}`);
    return known;
  });
}

function positive(name: string, text: string | undefined, preset: number): number {
  const value = text === undefined ? preset : Number(text);
  if (!(value > 0 && value < Infinity)) throw new Error(`--${name} must be a number above 0, not ${text}`);
  return value;
}

function wholeNumber(name: string, text: string | undefined, preset: number): number {
  const value = positive(name, text, preset);
  if (!Number.isSafeInteger(value)) throw new Error(`--${name} must be a whole number, not ${text}`);
  return value;
}
