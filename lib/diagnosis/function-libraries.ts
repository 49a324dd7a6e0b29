import { Events } from '../events/events.js';
import type { Duration } from '../message/duration.js';
import { resolveModuleOptions, resolveOptionsOf } from '../options/resolve-options.js';
import type { RedisCommands } from '../redis/commands/redis-commands.js';
import type { ConnectionOptions } from '../redis/options/connection-options.js';
import type { RedisConnections } from '../redis/redis-connections.js';
import { type LoadedLibrary, ownLibrary, RedisLibrary } from '../redis/script/redis-library.js';
import type { QueueLayout } from '../store/layout.js';
import { nativeLayout } from '../store/native/native-layout.js';
import { hasCode } from '../message/failure.js';
import { isErrorReply } from '../redis/redis-errors.js';
import type { ScriptReply } from '../redis/script/script-call.js';
import { openConnections } from './open-connections.js';

/** Where to look for libraries. All fields are optional. Those that are also module options have the same meaning. */
export interface FunctionLibrariesPlace {
  /** Where Redis is. Default: `'redis://127.0.0.1:6379'`. */
  readonly connection?: ConnectionOptions | undefined;
  /** How long each call may take. 10 ms – 10 min. Default: `'5s'`. */
  readonly offerTimeout?: Duration | undefined;
  /** Layouts other than the native one whose libraries count as this version's. */
  readonly layouts?: readonly QueueLayout[] | undefined;
}

/** A function library that some version of this package has loaded into Redis. */
export interface FunctionLibrary {
  /** `delay_queue_` and a digest of its code. */
  readonly name: string;
  /** What the library's functions are for. The same in all versions. */
  readonly purpose: string;
  /** True if the library belongs to this version, false if to another one. Undefined if it belongs to an unknown layout. */
  readonly isCurrent: boolean | undefined;
}

/**
 * The function libraries that any version of this package has loaded into Redis, or into any primary of a cluster. Other libraries are
 * never listed or deleted: this package's libraries are recognized by the digest of their code in their names.
 * @example
 * ```ts
 * const libraries = new FunctionLibraries({ connection: process.env.REDIS_URL });
 * try {
 *   const old = (await libraries.list()).filter(({ isCurrent }) => isCurrent === false);
 *   await libraries.delete(old.map(({ name }) => name));
 * } finally {
 *   await libraries.close();
 * }
 * ```
 */
export class FunctionLibraries {
  readonly #connections: RedisConnections;
  readonly #current: readonly LoadedLibrary[];

  /** Opens no connection yet. @throws DelayQueueError `INVALID_OPTION` */
  constructor(place: FunctionLibrariesPlace = {}) {
    const { connection, offerTimeout, layouts = [] } = place;
    const options = resolveModuleOptions({ connection, offerTimeout });
    this.#current = currentLibraries(layouts);
    this.#connections = openConnections(options, new Events());
  }

  /**
   * Lists the libraries by name. Needs the permission `+function|list`.
   * @throws DelayQueueError `NOT_CONNECTED`, `LOGIN_REFUSED`, `OUTCOME_UNKNOWN`, `STORE_REFUSED`
   */
  async list(): Promise<FunctionLibrary[]> {
    return listOf(this.#connect(), this.#current);
  }

  /**
   * Deletes libraries from every server that has them. Safe at any time: a process that still needs a library loads it again. Needs the
   * permissions `+function|list` and `+function|delete`.
   * @param names - as in {@link FunctionLibrary.name}. Libraries of other packages are left alone
   * @returns the names of the deleted libraries
   * @throws DelayQueueError like {@link list}
   */
  async delete(names: readonly string[]): Promise<string[]> {
    const deleted = new Set<string>();
    for (const commands of await eachServer(this.#connect())) {
      const chosen = (await listLibraries(commands)).filter(({ name }) => names.includes(name));
      for (const library of chosen) if (await deleteLibrary(commands, library)) deleted.add(library.name);
    }
    return [...deleted].sort();
  }

  /** Closes the connections. */
  close(): Promise<void> {
    return this.#connections.close();
  }

  #connect(): RedisCommands {
    const { commands } = this.#connections;
    commands.servers.connect();
    return commands;
  }
}

/**
 * Returns this version's libraries.
 * @param layouts - layouts in addition to the native one
 * @throws DelayQueueError `INVALID_OPTION`
 */
export function currentLibraries(layouts: readonly QueueLayout[]): readonly LoadedLibrary[] {
  const ofLayouts = layouts.map((layout) => resolveOptionsOf('any', { layout }).layout.library);
  return [nativeLayout.library, ownLibrary, ...ofLayouts];
}

/** Lists this package's libraries, by name. */
export async function listOf(commands: RedisCommands, current: readonly LoadedLibrary[]): Promise<FunctionLibrary[]> {
  const loaded = (await Promise.all((await eachServer(commands)).map(listLibraries))).flat();
  const byName = new Map(loaded.map((library) => [library.name, library]));
  return [...byName.values()]
    .map(({ name, purpose }) => ({ name, purpose, isCurrent: isAmong({ name, purpose }, current) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns the servers that have libraries: in a cluster, each primary. */
async function eachServer(commands: RedisCommands): Promise<RedisCommands[]> {
  const servers = await commands.servers.all('FUNCTION');
  return servers.map((server) => commands.on(server));
}

function isAmong({ name, purpose }: LoadedLibrary, current: readonly LoadedLibrary[]): boolean | undefined {
  if (current.some((library) => library.name === name)) return true;
  return current.some((library) => library.purpose === purpose) ? false : undefined;
}

/** Lists a server's libraries from any version of this package. @throws DelayQueueError like `RedisCommands.send` */
export async function listLibraries(commands: RedisCommands): Promise<LoadedLibrary[]> {
  const reply = await commands.send('FUNCTION', 'LIST', 'LIBRARYNAME', 'delay_queue_*', 'WITHCODE');
  const sources = reply.rest((each) => each.list(readSource).join(''));
  return sources.flatMap((source) => RedisLibrary.recognize(source) ?? []);
}

/** Returns a field's value if the field is the library's source, otherwise an empty string. */
function readSource(fields: ScriptReply): string {
  if (fields.text() === 'library_code') return fields.text();
  fields.skip();
  return '';
}

/** Deletes a library. @returns false if it is gone already @throws DelayQueueError like `RedisCommands.send` */
export async function deleteLibrary(commands: RedisCommands, { name }: LoadedLibrary): Promise<boolean> {
  try {
    await commands.send('FUNCTION', 'DELETE', name);
    return true;
  } catch (error) {
    const isGone =
      hasCode(error, 'STORE_REFUSED') && isErrorReply(error.cause) && error.cause.message.includes('not found');
    if (isGone) return false;
    throw error;
  }
}
