import type { MessageCodec } from '../message/codec/message-codec.js';
import type { Events } from '../events/events.js';
import type { Clock } from '../timing/clock.js';
import type { Outcome } from './consumer-store.js';
import type { GroupRules, StoreLimits } from './message-store.js';
import type { Router } from './router.js';
import type { NeededCommand } from '../redis/check/permissions.js';
import type { RedisConnections } from '../redis/redis-connections.js';
import type { RedisLibrary } from '../redis/script/redis-library.js';

/** How the messages of a queue are laid out in Redis: what an application holds of a layout. */
export interface QueueLayout {
  /** What errors call it. */
  readonly name: string;
}

/** A layout, as the library uses it. */
export interface Layout extends QueueLayout {
  /** What its queues and messages can do. */
  readonly can: LayoutAbilities;

  /** Converts the content of messages to bodies and back. */
  readonly codec: MessageCodec;

  /** The library of its functions in Redis. */
  readonly library: RedisLibrary;

  /** Opens a queue in Redis that has one partition. */
  open(connections: RedisConnections, queue: QueueToOpen): Router;

  /** Names the commands that a worker of a queue, or of a family of queues, sends. */
  neededCommands(queue: QueueAddress): NeededCommand[];

  /** Begins to doubt whether the bodies of a queue were written by {@link codec}. Left out where bodies show what wrote them. */
  createDoubt?(): CodecDoubt;
}

/** What a layout can do. What it cannot do is refused before anything is written. */
export interface LayoutAbilities {
  /** Whether messages have headers. */
  readonly headers: boolean;
  /** Whether messages have types. */
  readonly types: boolean;
  /** Whether a queue may have several partitions, each with the keys of the layout `native`. */
  readonly partitions: boolean;
  /** Whether a family of queues may be handled. */
  readonly families: boolean;
  /** Whether messages can expire. */
  readonly expiry: boolean;
  /** Whether an offer may follow an active message of the same id. */
  readonly followers: boolean;
  /** Whether the payload, headers and type of a delayed message may change. */
  readonly changes: boolean;
  /** Whether an offer that replaces a message may have a `maxWait`. */
  readonly debounce: boolean;
  /** Whether messages can have groups. */
  readonly groups: boolean;
  /** Whether messages can repeat. */
  readonly repeats: boolean;
  /** Whether others than processes of this package may handle its queues: the directory does not tell who does. */
  readonly otherConsumers: boolean;
  /** Whether several queues may have the same layout; not if it says where one of them is. */
  readonly severalQueues: boolean;
}

/** Where a queue is. */
export interface QueueAddress {
  /** What the keys of this package begin with. */
  readonly prefix: string;
  /** The name of the queue, or of the family. */
  readonly queue: string;
  /** How many partitions this process is configured with. */
  readonly partitions: number;
  /** How messages of one group are handled; null or absent: messages have no groups. */
  readonly groups?: GroupRules | null;
  readonly isCluster: boolean;
}

/** A queue that this process uses. */
export interface QueueToOpen extends Omit<QueueAddress, 'isCluster'> {
  /** The limits of each partition, if there are so many. */
  readonly limitsOf: (partitions: number) => StoreLimits;
  /** How long an idle consumer blocks, ms. */
  readonly blockTimeout: number;
  readonly clock: Clock;
  readonly events: Events;
}

/** Tells a wrong codec from a few broken bodies, where only the configuration says which codec writes the bodies. */
export interface CodecDoubt {
  /** Why the queue must not be consumed any more; undefined: no reason to stop. */
  readonly haltReason: string | undefined;

  /**
   * A body could be decoded.
   *
   * @throws DelayQueueError `INVALID_PAYLOAD` if another codec wrote it
   */
  read(id: string, body: Buffer): void;

  /**
   * A body could not be read.
   *
   * @returns what becomes of its message while the codec may be wrong; undefined: the message itself must be broken
   */
  unread(id: string, body: Buffer, error: unknown): Outcome | undefined;
}

/** Whether a value that a user gave is a layout. */
export function isLayout(value: unknown): value is Layout {
  const { open, codec } = (value ?? {}) as Partial<Layout>;
  return typeof open === 'function' && typeof codec === 'object';
}
