import type { QueueOptions } from '../../../lib/index.js';
import { Random } from '../random.js';
import type { SoakSettings } from '../soak-settings.js';

/**
 * What a handler does with a message: the first time it may put it off, ask for it again with other content, or fail, and then
 * handles it; or it rejects it.
 */
export type Behaviour = 'handle' | 'fail-once' | 'defer-once' | 'again-once' | 'reject';

/**
 * How a handler goes about it. `synchronous`: it returns no promise, and blocks the event loop. `blocks-first`: it is
 * asynchronous, and blocks before it awaits anything. `throws` at once, or `rejects` later, with what cannot be looked at.
 * `thenable`: it returns one that calls back twice.
 */
export type Manner = 'plain' | 'synchronous' | 'blocks-first' | 'throws' | 'rejects' | 'thenable';

/** What becomes of a message after its offer; `renew`: it is cancelled, and offered again under its id. */
export type Change = 'none' | 'cancel' | 'reschedule' | 'replace' | 'renew';

/** All about one message. Every process works it out from the seed and the message's number alone. */
export interface MessagePlan {
  readonly queue: QueueName;
  /** Of the offer, ms. */
  readonly delay: number;
  /**
   * How it is offered: among others in one call, alone, alone with an id made by the library, for an instant, or for the
   * next one that many have in common, {@link rushAfter}.
   */
  readonly way: 'many' | 'alone' | 'generated-id' | 'instant' | 'rush';
  readonly behaviour: Behaviour;
  readonly manner: Manner;
  /** How long a handler works on it, or blocks, ms; 0: it does not wait for anything. */
  readonly work: number;
  readonly change: Change;
  /** So long after the offer was acknowledged, ms. */
  readonly changeAfter: number;
  /** Of a reschedule, a replacement or the second offer, ms. */
  readonly changeDelay: number;
  /** Bytes of content. */
  readonly size: number;
}

export type QueueName = 'orders' | 'mails' | 'images';

/** Of every queue. Leases and waits are short, so that a soak sees many of them end. */
export const LEASE = 3000;
export const BLOCK_TIMEOUT = 2000;
export const CHECK_INTERVAL = 3000;
export const OFFER_TIMEOUT = 2000;

/** A message may be offered with other contents so often; each has a version, from 0. */
export const MOST_VERSIONS = 64;

const COMMON = { lease: LEASE, blockTimeout: BLOCK_TIMEOUT, checkInterval: CHECK_INTERVAL, attempts: 50 };

/** The queues, with different options. `orders` carries objects, `mails` texts, `images` bytes. */
export const QUEUES: Readonly<Record<QueueName, QueueOptions>> = {
  orders: { ...COMMON, concurrency: 64, backoff: { type: 'fixed', delay: 300 } },
  mails: {
    ...COMMON,
    concurrency: 24,
    timeout: '20s',
    backoff: { type: 'exponential', delay: 500, factor: 2, maxDelay: 2000, jitter: 0.2 },
  },
  images: { ...COMMON, concurrency: 16, backoff: { type: 'fixed', delay: 800 } },
};

export const QUEUE_NAMES = Object.keys(QUEUES) as QueueName[];

/** After a failed attempt of a message no queue lets it fall due again before so many ms. */
export const SHORTEST_BACKOFF = 300;

/** How long a message is put off, ms. */
export const DEFER_DELAY = 400;

/** After how long a message comes again, ms. */
export const AGAIN_DELAY = 350;

/** What all messages of a run follow from. */
export type Workload = Pick<SoakSettings, 'seed' | 'longestDelay' | 'consumer' | 'handlers' | 'layout'>;

export function planMessage({ seed, longestDelay, consumer, handlers }: Workload, n: number): MessagePlan {
  const random = new Random(seed, n);
  const share = random.next();
  const queue = share < 0.6 ? 'orders' : share < 0.85 ? 'mails' : 'images';
  // A naive consumer knows neither retries nor changes.
  const plain = consumer !== 'module';
  const change = plain ? 'none' : chooseChange(random);
  const manner = plain || change !== 'none' ? 'plain' : chooseManner(random, queue, handlers);
  const behaviour = plain || change !== 'none' ? 'handle' : chooseBehaviour(random, manner);
  const delay = chooseDelay(random, { longestDelay, change });
  return {
    queue,
    ...(blocks(manner) ? { delay: 0, way: 'rush' } : { delay, way: chooseWay(random) }),
    behaviour,
    manner,
    work: blocks(manner) ? random.int(20, 600) : chooseWork(random, plain ? 0 : longestDelay),
    change,
    // Half of the time well before it is due, else just when it is, to race with the transfer.
    changeAfter: random.chance(0.5) ? Math.round(delay / 2) : Math.max(0, delay + random.int(-10, 5)),
    changeDelay: random.int(0, Math.round(longestDelay / 2)),
    size: chooseSize(random, queue),
  };
}

/** A few are large. A byte of text takes two in JSON, and `maxPayloadBytes` is 256 KiB. */
function chooseSize(random: Random, queue: QueueName): number {
  const share = random.next();
  if (share < 0.98) return random.int(8, 200);
  if (share < 0.999) return random.int(1000, 4000);
  return random.int(10_000, queue === 'images' ? 200_000 : 100_000);
}

/** Some work for so long that their leases must be extended, and that others hold them when a frozen worker comes back. */
function chooseWork(random: Random, longest: number): number {
  const share = random.next();
  if (share < 0.5) return 0;
  if (share < 0.95 || longest === 0) return random.int(1, 5);
  return share < 0.998 ? random.int(20, 60) : random.int(1000, Math.min(2 * LEASE, longest));
}

function chooseChange(random: Random): Change {
  const share = random.next();
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
  if (share > 0.998 && handlers.includes('throwing')) return random.pick(['throws', 'rejects']);
  return share > 0.995 && share < 0.998 && handlers.includes('thenable') ? 'thenable' : 'plain';
}

const blocks = (manner: Manner): boolean => manner === 'synchronous' || manner === 'blocks-first';

/**
 * The next instant at which many messages fall due at once. Their handlers block, and one consumer has many of them in its
 * hands: together they take longer than a lease.
 */
export function rushAfter(now: number, { longestDelay }: Workload): number {
  return Math.ceil(now / longestDelay) * longestDelay;
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

function chooseDelay(random: Random, { longestDelay, change }: { longestDelay: number; change: Change }): number {
  if (change !== 'none') return random.int(Math.round(longestDelay / 5), longestDelay);
  if (random.chance(0.1)) return 0;
  return random.chance(0.3) ? random.int(1, 500) : random.int(1, longestDelay);
}

function chooseWay(random: Random): MessagePlan['way'] {
  const share = random.next();
  if (share < 0.85) return 'many';
  if (share < 0.9) return 'alone';
  return share < 0.95 ? 'generated-id' : 'instant';
}
