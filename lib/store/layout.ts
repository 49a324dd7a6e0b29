import type { MessageCodec } from '../message/codec/message-codec.js';
import type { Outcome } from './consumer-store.js';
import type { GroupRules, StoreLimits } from './message-store.js';
import type { Router } from './router.js';
import type { NeededCommand } from '../redis/check/permissions.js';
import type { RedisConnections } from '../redis/redis-connections.js';
import type { RedisLibrary } from '../redis/script/redis-library.js';

/** How a queue's messages are laid out in Redis, as an application sees it. */
export interface QueueLayout {
  /** The layout's name, as shown in errors. */
  readonly name: string;
}

export interface Layout extends QueueLayout {
  readonly can: LayoutAbilities;

  readonly codec: MessageCodec;

  /** The library of the layout's functions in Redis. */
  readonly library: RedisLibrary;

  /** Opens a queue with one partition in Redis. */
  open(connections: RedisConnections, queue: QueueToOpen): Router;

  /** Lists the commands sent by a worker of a queue, or of a family of queues. */
  neededCommands(queue: QueueAddress): NeededCommand[];

  /** Creates a check that a queue's bodies were written by {@link codec}. Absent if bodies show which codec wrote them. */
  createMismatchCheck?(): CodecMismatchCheck;
}

/** The abilities of a layout. Whatever a layout cannot do is refused before anything is written. */
export interface LayoutAbilities {
  readonly headers: boolean;
  readonly types: boolean;
  /** True if a queue may have several partitions, each with the `native` layout's keys. */
  readonly partitions: boolean;
  /** True if a family of queues may be handled. */
  readonly families: boolean;
  /** True if messages can expire. */
  readonly expiry: boolean;
  /** True if an offer may follow an active message with the same id. */
  readonly followers: boolean;
  /** True if the payload, headers and type of a delayed message may change. */
  readonly changes: boolean;
  /** True if an offer that replaces a message may have a `maxWait`. */
  readonly debounce: boolean;
  readonly groups: boolean;
  /** True if claims can keep to a limit of active messages. */
  readonly globalConcurrency: boolean;
  readonly repeats: boolean;
  /** True if messages may have their own attempts and backoff. */
  readonly retries: boolean;
  /** True if its bodies are those of the native codec, which can be encrypted. */
  readonly encryption: boolean;
  /** True if a queue can remember the messages that were handled. */
  readonly history: boolean;
  /** True if a queue can keep the ids of handled messages, so that later offers with them are ignored. */
  readonly idsFor: boolean;
  /** True if processes without this package may handle its queues. The directory then does not know all consumers. */
  readonly otherConsumers: boolean;
  /** True if several queues may share one layout object. False if the object names the keys of a single queue. */
  readonly severalQueues: boolean;
}

export interface QueueAddress {
  /** The prefix of all of this package's keys. */
  readonly prefix: string;
  /** The name of the queue or the family. */
  readonly queue: string;
  /** The number of partitions in this process's configuration. */
  readonly partitions: number;
  /** Null or absent: messages have no groups. */
  readonly groups?: GroupRules | null;
  /** Null or absent: handled messages are not remembered. */
  readonly history?: object | null;
  /** Null or absent: ids are not kept. */
  readonly idsFor?: object | null;
  readonly isCluster: boolean;
}

export interface QueueToOpen extends Omit<QueueAddress, 'isCluster'> {
  /** Returns the limits of one partition, given the number of partitions. */
  readonly limitsOf: (partitions: number) => StoreLimits;
  /** How long an idle consumer blocks, ms. */
  readonly blockTimeout: number;
}

/** Tells a wrong codec from a few broken bodies, for layouts whose bodies do not show which codec wrote them. */
export interface CodecMismatchCheck {
  /** Why the queue may no longer be consumed; undefined if it may. */
  readonly haltReason: string | undefined;

  /** Called when a body has been decoded. @throws DelayQueueError `INVALID_PAYLOAD` if another codec wrote it */
  read(id: string, body: Buffer): void;

  /** Called when a body could not be read. @returns the outcome while the codec may be wrong; undefined if the body must be broken */
  unread(id: string, body: Buffer, error: unknown): Outcome | undefined;
}

/** True if a user-supplied value is a layout. */
export function isLayout(value: unknown): value is Layout {
  const { open, codec } = (value ?? {}) as Partial<Layout>;
  return typeof open === 'function' && typeof codec === 'object';
}
