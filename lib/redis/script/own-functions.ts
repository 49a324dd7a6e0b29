import { readLua } from './lua-files.js';
import { RedisLibrary } from './redis-library.js';

/** The library of the functions that belong to no layout. */
export const ownLibrary = new RedisLibrary('nestjs-delay-queue: permissions and rates', [
  { read: readLua, modules: [], functions: ['check-permissions', 'take-signals'] },
]);

export const ownFunctions = {
  checkPermissions: ownLibrary.define('check-permissions', {}),
  takeSignals: ownLibrary.define('take-signals', {}),
};
