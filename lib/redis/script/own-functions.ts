import { readLua } from './lua-files.js';
import { RedisLibrary } from './redis-library.js';

const library = new RedisLibrary([{ read: readLua, modules: [], functions: ['check-permissions', 'take-tokens'] }]);

/** The functions that belong to no layout. */
export const ownFunctions = {
  checkPermissions: library.define('check-permissions', {}),
  takeTokens: library.define('take-tokens', {}),
};
