import { RedisLibrary } from '../../redis/script/redis-library.js';
import { laneKeys } from './lane-keys.js';
import { readLua } from './lua-files.js';
import type { NativeKeys } from './native-keys.js';

/** What a library of another layout may use, too. */
export const NATIVE_MODULES = {
  read: readLua,
  modules: [
    ...['clock', 'partitioning', 'channel', 'scores', 'record', 'ids', 'claims', 'wake', 'dead', 'followers', 'groups'],
    ...['take-out', 'offers', 'rate', 'take', 'transfer', 'pages', 'settlement'],
  ],
  modulesByKey: { groups: 'lanes' },
  functions: [],
};

/** The library of the native layout; the header of each function is its contract. */
export const nativeLibrary = new RedisLibrary([
  NATIVE_MODULES,
  {
    read: readLua,
    modules: [],
    functions: [
      ...[
        'abort',
        'agree',
        'cancel',
        'change',
        'claim',
        'clear',
        'count-types',
        'discard',
        'extend',
        'find',
        'group',
        'list',
      ],
      ...['offer', 'pause', 'place', 'redrive', 'repair', 'reschedule', 'resume', 'retire', 'ring', 'settle', 'status'],
      ...['transfer', 'transfer-and-claim'],
    ],
  },
]);

/** The keys that headers may name. */
const layout: NativeKeys = laneKeys('', '');

// Whoever sends the further keys of messages with groups has them.
const define = (name: string) => nativeLibrary.define(name, layout);

/** The functions with which a store works. */
export const nativeFunctions = {
  offer: define('offer'),
  cancel: define('cancel'),
  reschedule: define('reschedule'),
  change: define('change'),
  find: define('find'),
  transfer: define('transfer'),
  transferAndClaim: define('transfer-and-claim'),
  claim: define('claim'),
  ring: define('ring'),
  extend: define('extend'),
  settle: define('settle'),
  abort: define('abort'),
  repair: define('repair'),
  status: define('status'),
  countTypes: define('count-types'),
  pause: define('pause'),
  resume: define('resume'),
  clear: define('clear'),
  list: define('list'),
  group: define('group'),
  redrive: define('redrive'),
  discard: define('discard'),
  agree: define('agree'),
};
