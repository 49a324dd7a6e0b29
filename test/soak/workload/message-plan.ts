import type { QueueOptions } from '../../../lib/index.js';
import { Random } from '../random.js';
import { isNaive, type SoakSettings } from '../soak-settings.js';
import { chooseGroup } from './groups.js';

/**
 * What a handler does with a message. With `…-once`, it first defers it, asks for it again with other content, or fails, and
 * later handles it.
 */
export type Behaviour = 'handle' | 'fail-once' | 'defer-once' | 'again-once' | 'reject';

/**
 * How a handler works. `synchronous`: it blocks the event loop and returns no promise. `blocks-first`: it is async, and
 * blocks before its first await. `throws` at once, or `rejects` later, with an error that throws when it is read.
 * `thenable`: it returns a thenable that calls back twice. `hangs`: an observer of some workers never lets its first attempt begin.
 */
export type Manner = 'plain' | 'synchronous' | 'blocks-first' | 'throws' | 'rejects' | 'thenable' | 'hangs';

/**
 * What happens to a message after its offer. `renew` cancels it and offers it again under its id; `inform` reschedules it with other
 * content; `debounce` replaces it several times with a `maxWait`; `follow` offers a follower while its handler may work; `abort` stops
 * that handler.
 */
export type Change =
  'none' | 'cancel' | 'reschedule' | 'replace' | 'renew' | 'inform' | 'debounce' | 'follow' | 'abort';

/** Everything about one message. Each process derives it from the seed and the message's number alone. */
export interface MessagePlan {
  readonly queue: QueueName;
  /** Null: it has none. */
  readonly group: string | null;
  /** The delay of the offer, ms. */
  readonly delay: number;
  /**
   * How it is offered: with others in one call, alone, alone with a generated id, for an instant, or for the next instant
   * that many messages share, {@link rushAfter}.
   */
  readonly way: 'many' | 'alone' | 'generated-id' | 'instant' | 'rush';
  readonly behaviour: Behaviour;
  readonly manner: Manner;
  /** The time for which a handler works on it or blocks, ms; 0 if it does not wait. */
  readonly work: number;
  readonly change: Change;
  /** The time from the acknowledged offer to the change, ms. */
  readonly changeAfter: number;
  /** The delay of a reschedule, a replacement or a second offer, ms. */
  readonly changeDelay: number;
  /** How late it may be at most, ms; null: it does not expire. */
  readonly expiresAfter: number | null;
  /** Bytes of content. */
  readonly size: number;
}

export type QueueName = 'orders' | 'mails' | 'images' | 'payments';

/** Leases and waits of every queue, short so that a soak sees many of them end. */
export const LEASE = 3000;
export const BLOCK_TIMEOUT = 2000;
export const CHECK_INTERVAL = 3000;
export const OFFER_TIMEOUT = 2000;

/** The most contents that one message can have; each is a version, counted from 0. */
export const MAX_VERSIONS = 64;

/** The time that a handler may take, and an observer before it: longer than any handler works, even if its process freezes meanwhile. */
const TIMEOUT = 20_000;

const COMMON = {
  ...{ lease: LEASE, blockTimeout: BLOCK_TIMEOUT, checkInterval: CHECK_INTERVAL },
  ...{ attempts: 50, timeout: TIMEOUT },
};

/** How the messages of `payments` come together. */
export const BATCH = { batch: 16, batchWait: 50 };

/** The queues, with different options. `orders` and `payments` carry objects, `mails` texts, `images` bytes; `payments` come in batches. */
export const QUEUES: Readonly<Record<QueueName, QueueOptions>> = {
  orders: { ...COMMON, concurrency: 64, backoff: { type: 'fixed', delay: 300 } },
  mails: {
    ...COMMON,
    concurrency: 24,
    backoff: { type: 'exponential', delay: 500, factor: 2, maxDelay: 2000, jitter: 0.2 },
  },
  images: { ...COMMON, concurrency: 16, backoff: { type: 'fixed', delay: 800 } },
  payments: { ...COMMON, concurrency: 8, backoff: { type: 'fixed', delay: 400 } },
};

export const QUEUE_NAMES = Object.keys(QUEUES) as QueueName[];

/** The shortest backoff of any queue, ms. */
export const MIN_BACKOFF = 300;

/** The delay of a deferral, ms. */
export const DEFER_DELAY = 400;

/** The delay of a message that is asked for again, ms. */
export const AGAIN_DELAY = 350;

/** The settings from which all messages of a run derive. */
export type Workload = Pick<SoakSettings, 'seed' | 'maxDelay' | 'consumer' | 'handlers' | 'layout' | 'groups'>;

export function planMessage(workload: Workload, n: number): MessagePlan {
  const { seed, maxDelay, consumer, handlers, layout, groups } = workload;
  const random = new Random(seed, n);
  const share = random.next();
  const queue = share < 0.55 ? 'orders' : share < 0.78 ? 'mails' : share < 0.9 ? 'images' : 'payments';
  // A naive consumer knows neither retries nor changes.
  const plain = isNaive(consumer);
  const change = plain ? 'none' : chooseChange(random, layout);
  const manner = plain || change !== 'none' ? 'plain' : chooseManner(random, queue, handlers);
  const behaviour = plain || change !== 'none' ? 'handle' : chooseBehaviour(random, manner);
  const delay = chooseDelay(random, { maxDelay, change });
  const way = chooseWay(random);
  const meetsHandler = change === 'follow' || change === 'abort';
  const work = meetsHandler ? random.int(50, 400) : chooseWork(random, plain ? 0 : maxDelay);
  const mayExpire = !plain && layout === 'native' && change === 'none' && manner === 'plain' && way !== 'generated-id';
  const plan: Omit<MessagePlan, 'group'> = {
    queue,
    ...(blocks(manner) ? { delay: 0, way: 'rush' } : { delay, way }),
    behaviour,
    manner,
    work: blocks(manner) ? random.int(20, 600) : work,
    change,
    changeAfter: meetsHandler ? delay + random.int(0, work) : chooseChangeAfter(random, delay),
    changeDelay: random.int(0, Math.round(maxDelay / 2)),
    expiresAfter: mayExpire && random.chance(0.03) ? chooseExpiry(random) : null,
    size: chooseSize(random, queue),
  };
  // The last choice, so that a message is the same with and without groups.
  return { ...plan, group: groups > 0 ? chooseGroup(random, { isSlow: isSlow(plan) }) : null };
}

/** True if its handler keeps a permit of its group for long. */
function isSlow({ manner, work }: Pick<MessagePlan, 'manner' | 'work'>): boolean {
  return work >= 1000 || manner === 'hangs' || blocks(manner);
}

/** A few are large, but a byte of text can take two in JSON, and `maxPayloadBytes` is 256 KiB. */
function chooseSize(random: Random, queue: QueueName): number {
  const share = random.next();
  if (share < 0.98) return random.int(8, 200);
  if (share < 0.999) return random.int(1000, 4000);
  return random.int(10_000, queue === 'images' ? 200_000 : 100_000);
}

/** Some work so long that their leases must be extended, and that others hold them when a frozen worker comes back. */
function chooseWork(random: Random, longest: number): number {
  const share = random.next();
  if (share < 0.5) return 0;
  if (share < 0.95 || longest === 0) return random.int(1, 5);
  return share < 0.998 ? random.int(20, 60) : random.int(1000, Math.min(2 * LEASE, longest));
}

/** Half of the changes come well before the due time, the others around it, to race with the transfer. */
function chooseChangeAfter(random: Random, delay: number): number {
  return random.chance(0.5) ? Math.round(delay / 2) : Math.max(0, delay + random.int(-10, 5));
}

/** A third races with the claim; the others are only missed in faults. */
function chooseExpiry(random: Random): number {
  return random.chance(0.33) ? random.int(0, 10) : random.int(10, 2000);
}

function chooseChange(random: Random, layout: Workload['layout']): Change {
  const share = random.next();
  if (share > 0.995) return 'abort';
  if (share > 0.965 && layout === 'native') return share < 0.975 ? 'inform' : share < 0.985 ? 'debounce' : 'follow';
  if (share < 0.01) return 'cancel';
  if (share < 0.02) return 'reschedule';
  if (share < 0.025) return 'replace';
  return share < 0.03 ? 'renew' : 'none';
}

function chooseManner(random: Random, queue: QueueName, handlers: Workload['handlers']): Manner {
  const share = random.next();
  if (share < 0.00125 && queue === 'orders' && handlers.includes('blocking')) {
    return random.pick(['synchronous', 'blocks-first']);
  }
  // An error thrown by a handler of batches concerns all of its messages.
  if (share > 0.998 && handlers.includes('throwing')) {
    return queue === 'payments' ? 'rejects' : random.pick(['throws', 'rejects']);
  }
  if (share > 0.995 && share < 0.998 && handlers.includes('thenable')) return 'thenable';
  return share > 0.9945 && share < 0.995 && handlers.includes('hanging') ? 'hangs' : 'plain';
}

const blocks = (manner: Manner): boolean => manner === 'synchronous' || manner === 'blocks-first';

/**
 * The next instant at which many messages fall due together. Their handlers block, and one consumer holds so many that they
 * take longer than a lease.
 */
export function rushAfter(now: number, { maxDelay }: Workload): number {
  return Math.ceil(now / maxDelay) * maxDelay;
}

function chooseBehaviour(random: Random, manner: Manner): Behaviour {
  if (manner === 'throws' || manner === 'rejects') return 'fail-once';
  if (manner !== 'plain') return 'handle';
  const share = random.next();
  if (share < 0.01) return 'fail-once';
  if (share < 0.015) return 'defer-once';
  if (share < 0.025) return 'again-once';
  return share < 0.0255 ? 'reject' : 'handle';
}

function chooseDelay(random: Random, { maxDelay, change }: { maxDelay: number; change: Change }): number {
  if (change !== 'none') return random.int(Math.round(maxDelay / 5), maxDelay);
  if (random.chance(0.1)) return 0;
  return random.chance(0.3) ? random.int(1, 500) : random.int(1, maxDelay);
}

function chooseWay(random: Random): MessagePlan['way'] {
  const share = random.next();
  if (share < 0.85) return 'many';
  if (share < 0.9) return 'alone';
  return share < 0.95 ? 'generated-id' : 'instant';
}
