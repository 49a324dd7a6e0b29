import { Events } from '../events/events.js';
import type { Duration } from '../message/duration.js';
import { resolveModuleOptions, resolveOptionsOf, resolveQueueOptions } from '../options/resolve-options.js';
import { deleteLibrary, listLibraries } from '../redis/check/loaded-libraries.js';
import type { RedisCommands } from '../redis/commands/redis-commands.js';
import type { ConnectionOptions } from '../redis/options/connection-options.js';
import { RedisConnections } from '../redis/redis-connections.js';
import { ownLibrary } from '../redis/script/own-functions.js';
import type { LoadedLibrary } from '../redis/script/redis-library.js';
import type { QueueLayout } from '../store/layout.js';
import { nativeLayout } from '../store/native/native-layout.js';
import { systemClock } from '../timing/clock.js';

/** Where to look for libraries. All fields are optional; those that the module has too mean the same. */
export interface FunctionLibrariesPlace {
  /**
   * Where Redis is.
   *
   * @defaultValue `'redis://127.0.0.1:6379'`
   */
  readonly connection?: ConnectionOptions | undefined;
  /**
   * How long each call may take. 10 ms – 10 min.
   *
   * @defaultValue `'5s'`
   */
  readonly offerTimeout?: Duration | undefined;
  /** Layouts besides the native one, whose libraries are to be told from those of other versions. */
  readonly layouts?: readonly QueueLayout[] | undefined;
}

/** A library of functions that this package, in whatever version, has loaded into Redis. */
export interface FunctionLibrary {
  /** `delay_queue_` and a digest of its code. */
  readonly name: string;
  /** What its functions are for: the same in all versions. */
  readonly purpose: string;
  /** True if it is that of this version, false if it is that of another one; undefined: it is of a layout that is not known here. */
  readonly isCurrent: boolean | undefined;
}

/**
 * The libraries of functions that this package, in whatever version, has loaded into Redis: in a cluster, into any primary. It sees and
 * deletes nobody else's: the code of a library of this package has the digest that its name contains.
 *
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

  /**
   * Opens no connection yet.
   *
   * @throws DelayQueueError `INVALID_OPTION`
   */
  constructor(place: FunctionLibrariesPlace = {}) {
    const { connection, offerTimeout, layouts = [] } = place;
    const options = resolveModuleOptions({ connection, offerTimeout });
    this.#current = currentLibraries(layouts);
    this.#connections = new RedisConnections({
      connection: options.connection,
      clock: systemClock,
      events: new Events(),
      commandTimeout: options.offerTimeout,
      heartbeat: resolveQueueOptions().blockTimeout,
    });
  }

  /**
   * Lists them by name, which takes the permission `+function|list`.
   *
   * @throws DelayQueueError `NOT_CONNECTED`, `LOGIN_REFUSED`, `OUTCOME_UNKNOWN`, `STORE_REFUSED`
   */
  async list(): Promise<FunctionLibrary[]> {
    return listOf(this.#connect(), this.#current);
  }

  /**
   * Deletes some of them from every server that has them, which takes the permissions `+function|list` and `+function|delete`. That is safe
   * at any time: a process that still needs one loads it again.
   *
   * @param names - as in {@link FunctionLibrary.name}. Those that are not libraries of this package are left alone
   * @returns the names of those that were deleted
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
 * The libraries of this version.
 *
 * @param layouts - besides the native one
 * @throws DelayQueueError `INVALID_OPTION`
 */
export function currentLibraries(layouts: readonly QueueLayout[]): readonly LoadedLibrary[] {
  const ofLayouts = layouts.map((layout) => resolveOptionsOf('any', { layout }).layout.library);
  return [nativeLayout.library, ownLibrary, ...ofLayouts];
}

/** Lists the libraries of this package, by name. */
export async function listOf(commands: RedisCommands, current: readonly LoadedLibrary[]): Promise<FunctionLibrary[]> {
  const loaded = (await Promise.all((await eachServer(commands)).map(listLibraries))).flat();
  const byName = new Map(loaded.map((library) => [library.name, library]));
  return [...byName.values()]
    .map(({ name, purpose }) => ({ name, purpose, isCurrent: isAmong({ name, purpose }, current) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The servers that have libraries: in a cluster, each primary. */
async function eachServer(commands: RedisCommands): Promise<RedisCommands[]> {
  const servers = await commands.servers.all('FUNCTION');
  return servers.map((server) => commands.on(server));
}

function isAmong({ name, purpose }: LoadedLibrary, current: readonly LoadedLibrary[]): boolean | undefined {
  if (current.some((library) => library.name === name)) return true;
  return current.some((library) => library.purpose === purpose) ? false : undefined;
}
