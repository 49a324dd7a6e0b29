import { type NeededCommand, neededCommands, type Permissions } from '../redis/check/permissions.js';
import { type LuaFolder, RedisLibrary } from '../redis/script/redis-library.js';
import type { NativeKeys } from '../store/native/native-keys.js';
import { NATIVE_MODULES } from '../store/native/native-library.js';
import { nativePermissions, neededInCluster } from '../store/native/native-permissions.js';

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
