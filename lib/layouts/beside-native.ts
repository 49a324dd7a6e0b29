import { type NeededCommand, neededCommands, type Permissions } from '../redis/check/permissions.js';
import { loadScript, type RedisScript } from '../redis/script/redis-script.js';
import { readLua } from '../store/native/lua-files.js';
import type { NativeKeys } from '../store/native/native-keys.js';
import { nativePermissions, neededInCluster } from '../store/native/native-permissions.js';

/* What a layout needs whose messages go on in a native store, once they are claimed. */

/**
 * Names the commands that a queue needs.
 *
 * @param permissions - the commands on the layout's own keys
 * @param keys - those and the keys of the native store
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
 * Loads a script of a layout. It may include the parts of the native scripts.
 *
 * @param path - `<layout>/<name>`
 * @param read - reads a Lua file of the layout by its path, without `.lua`
 * @param keys - of any queue, by the names that the header may use
 */
export function loadBesideNative<Part extends string>(
  path: string,
  read: (file: string) => string,
  keys: Readonly<Record<Part, string>>,
): RedisScript<Part> {
  return loadScript(path, keys, { [path.split('/')[0]!]: read, native: readLua });
}
