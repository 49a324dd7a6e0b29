import { z } from 'zod/mini';
import { check, mustBe } from '../options/check.js';
import { type NeededCommand, neededCommands, type Permissions } from '../redis/check/permissions.js';
import { type LuaFolder, RedisLibrary } from '../redis/script/redis-library.js';
import type { NativeKeys } from '../store/native/native-keys.js';
import { NATIVE_MODULES } from '../store/native/native-library.js';
import { nativePermissions, neededInCluster } from '../store/native/native-layout.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { isInstance } from '../message/failure.js';
import type { MessageCodec } from '../message/codec/message-codec.js';
import { DelayQueueProducer } from '../producer/delay-queue-producer.js';
import { PARTS, type QueueParts } from '../producer/queue-methods.js';
import type { Layout } from '../store/layout.js';
import type { MessageStore } from '../store/message-store.js';

export interface OptionRule<Value = unknown> {
  /** The text after "<option name> must be" in error messages. */
  readonly rule: string;
  readonly accepts: (value: unknown) => boolean;
  /** The option's default; absent if it has none. The option may be omitted either way. */
  readonly fallback?: Value;
}

export interface OptionRules<Resolved extends object> {
  /** The name of the function that takes the options, with parentheses, for errors. */
  readonly place: string;
  /** An example of valid options, for errors. */
  readonly example: string;
  readonly options: { readonly [Name in keyof Resolved]-?: OptionRule<Resolved[Name]> };
}

/** Checks a layout's options and fills in defaults. @throws DelayQueueError `INVALID_OPTION`, naming each invalid field */
export function checkLayoutOptions<Resolved extends object>(
  given: object,
  { place, example, options }: OptionRules<Resolved>,
): Resolved {
  const shape = Object.entries<OptionRule>(options).map(([name, { rule, accepts, fallback }]) => {
    const value = z.custom(accepts, mustBe(rule));
    return [name, fallback === undefined ? z.optional(value) : z.prefault(value, fallback)] as const;
  });
  const schema = z.strictObject(Object.fromEntries(shape), mustBe(`an object, such as ${example}`));
  return check(schema, given as Record<string, unknown>, place) as Resolved;
}

/* For layouts whose messages move to a native store once they are claimed. */

/**
 * Lists the commands that a queue needs.
 * @param permissions - the commands used on the layout's own keys
 * @param keys - the layout's keys and those of the native store
 */
export function commandsBesideNative<Keys extends object>(
  permissions: Permissions<Keys>,
  keys: Keys & NativeKeys,
  isCluster: boolean,
): NeededCommand[] {
  const all: Permissions<Keys & NativeKeys> = { ...permissions, ...nativePermissions };
  return [...neededCommands(all, keys), ...(isCluster ? neededInCluster(keys) : [])];
}

/**
 * Creates the library of a layout's functions. They may use the native modules.
 * @param layout - the layout's name, shown by `FUNCTION LIST`
 * @param folder - the layout's Lua files
 */
export function libraryBesideNative(layout: string, folder: LuaFolder): RedisLibrary {
  return new RedisLibrary(`nestjs-delay-queue: queues with the layout ${layout}`, [NATIVE_MODULES, folder]);
}

/** A queue with one store, as opened by its layout. */
export interface OpenQueue {
  readonly name: string;
  readonly layout: Layout;
  readonly codec: MessageCodec;
  /** The store that the layout has opened, or a store in memory if the module has the store `'memory'`. */
  readonly store: MessageStore;
}

/** Finds one of the producer's queues, for calls that only its layout offers. @throws DelayQueueError `INVALID_ARGUMENT` */
export function openQueue(producer: DelayQueueProducer, name: string): OpenQueue {
  // Undefined in a test double that extends the class.
  const parts = isInstance(producer, DelayQueueProducer) ? (producer[PARTS] as QueueParts | undefined) : undefined;
  if (!parts) {
    throw new DelayQueueError(
      'INVALID_ARGUMENT',
      'producer: must be the DelayQueueProducer that Nest injects, of the same copy of the package',
    );
  }
  const { options, codec, router } = parts.queues.named(name);
  return { name, layout: options.layout, codec, store: router.stores[0]! };
}
