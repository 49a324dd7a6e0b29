import {
  type CodecMismatchCheck,
  commandsBesideNative,
  type Layout,
  type LayoutAbilities,
  PlainRouter,
  type QueueAddress,
  type QueueToOpen,
  type RedisConnections,
  type RedisLibrary,
  type Router,
} from 'nestjs-delay-queue/layouts';
import { nameOfCodec } from './codec/configured-codec.js';
import { type RedissonCodec, redissonCodec } from './codec/redisson-codec.js';
import { JavaCodecCheck } from './java-codec-check.js';
import { JavaCodecMismatchCheck } from './java-codec-mismatch.js';
import type { ResolvedRedissonOptions } from './redisson-options.js';
import { redissonKeys } from './redisson-keys.js';
import { redissonLibrary } from './redisson-library.js';
import { redissonPermissions } from './redisson-permissions.js';
import { RedissonMessageStore } from './redisson-store.js';

/**
 * The layout of Redisson's `RDelayedQueue`. A message is its payload and nothing else, and a queue is where Java expects it. There are no
 * families: nothing announces what Java offers to a queue that nobody consumes, and Redisson has no directory of its queues.
 */
export class RedissonLayout implements Layout {
  readonly name = 'redisson';
  readonly can: LayoutAbilities;
  // Two layouts are the same if their options are.
  readonly #codec: RedissonCodec;

  constructor(readonly options: ResolvedRedissonOptions) {
    const severalQueues = options.name === undefined;
    this.can = {
      headers: false,
      types: false,
      partitions: false,
      families: false,
      expiry: false,
      groups: false,
      globalConcurrency: false,
      changes: false,
      debounce: false,
      repeats: false,
      retries: false,
      encryption: false,
      history: false,
      idsFor: false,
      followers: false,
      otherConsumers: true,
      severalQueues,
    };
    this.#codec = redissonCodec(options.codec);
  }

  get codec(): RedissonCodec {
    return this.#codec;
  }

  get library(): RedisLibrary {
    return redissonLibrary;
  }

  open(connections: RedisConnections, { limitsOf, ...queue }: QueueToOpen): Router {
    const { format, name: redissonName } = this.options;
    const codecCheck = new JavaCodecCheck(queue.queue, nameOfCodec(this.options.codec), this.#codec);
    const { clock, events } = connections;
    const ofQueue = { ...queue, limits: limitsOf(1), format, redissonName, codecCheck, clock, events };
    const store = new RedissonMessageStore(connections, ofQueue);
    return new PlainRouter(store, () => store.checkFormat());
  }

  neededCommands({ prefix, queue, isCluster }: QueueAddress) {
    const keys = redissonKeys({ prefix, queue, redissonName: this.options.name });
    return commandsBesideNative(redissonPermissions, keys, isCluster);
  }

  createMismatchCheck(): CodecMismatchCheck {
    return new JavaCodecMismatchCheck(nameOfCodec(this.options.codec), this.#codec);
  }
}
