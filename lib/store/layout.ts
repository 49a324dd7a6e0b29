import type { MessageCodec } from '../message/codec/message-codec.js';
import type { Events } from '../events/events.js';
import type { Clock } from '../timing/clock.js';
import type { Outcome } from './consumer-store.js';
import type { GroupRules, StoreLimits } from './message-store.js';
import type { Router } from './router.js';
import type { NeededCommand } from '../redis/check/permissions.js';
import type { RedisConnections } from '../redis/redis-connections.js';
import type { RedisLibrary } from '../redis/script/redis-library.js';

/** How the messages of a queue are laid out in Redis, as an application sees it. */
export interface QueueLayout {
  /** Its name in errors. */
  readonly name: string;
}

export interface Layout extends QueueLayout {
  readonly can: LayoutAbilities;

  readonly codec: MessageCodec;

  /** The library of its functions in Redis. */
  readonly library: RedisLibrary;

  /** Opens a queue in Redis that has one partition. */
  open(connections: RedisConnections, queue: QueueToOpen): Router;

  /** Names the commands that a worker of a queue, or of a family of queues, sends. */
  neededCommands(queue: QueueAddress): NeededCommand[];

  /** Creates a check that the bodies of a queue were written by {@link codec}. Absent if bodies show what wrote them. */
  createMismatchCheck?(): CodecMismatchCheck;
}

/** The abilities of a layout. Anything that it cannot do is refused before it is written. */
export interface LayoutAbilities {
  readonly headers: boolean;
  readonly types: boolean;
  /** True if a queue may have several partitions, each with the `native` layout's keys. */
  readonly partitions: boolean;
  /** True if a family of queues may be handled. */
  readonly families: boolean;
  /** True if messages can expire. */
  readonly expiry: boolean;
  /** True if an offer may follow an active message of the same id. */
  readonly followers: boolean;
  /** True if the payload, headers and type of a delayed message may change. */
  readonly changes: boolean;
  /** True if an offer that replaces a message may have a `maxWait`. */
  readonly debounce: boolean;
  readonly groups: boolean;
  readonly repeats: boolean;
  /** True if processes without this package may handle its queues, so the directory does not know all consumers. */
  readonly otherConsumers: boolean;
  /** True if several queues may share one layout object. False if the object names the keys of a single queue. */
  readonly severalQueues: boolean;
}

export interface QueueAddress {
  /** The first part of every key of this package. */
  readonly prefix: string;
  /** The name of the queue or of the family. */
  readonly queue: string;
  /** The number of partitions that this process is configured with. */
  readonly partitions: number;
  /** Null or absent: messages have no groups. */
  readonly groups?: GroupRules | null;
  readonly isCluster: boolean;
}

export interface QueueToOpen extends Omit<QueueAddress, 'isCluster'> {
  /** Returns the limits of each partition, given their number. */
  readonly limitsOf: (partitions: number) => StoreLimits;
  /** How long an idle consumer blocks, ms. */
  readonly blockTimeout: number;
  readonly clock: Clock;
  readonly events: Events;
}

/** Distinguishes a wrong codec from a few broken bodies if only the configuration says which codec writes the bodies. */
export interface CodecMismatchCheck {
  /** Why the queue may no longer be consumed; undefined if it may. */
  readonly haltReason: string | undefined;

  /** A body was decoded. @throws DelayQueueError `INVALID_PAYLOAD` if another codec wrote it */
  read(id: string, body: Buffer): void;

  /** A body could not be read. @returns its message's outcome while the codec may be wrong; undefined: the message must be broken */
  unread(id: string, body: Buffer, error: unknown): Outcome | undefined;
}

/** True if a value that a user gave is a layout. */
export function isLayout(value: unknown): value is Layout {
  const { open, codec } = (value ?? {}) as Partial<Layout>;
  return typeof open === 'function' && typeof codec === 'object';
}
