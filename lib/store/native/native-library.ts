import { RedisLibrary } from '../../redis/script/redis-library.js';
import { groupKeys, type NativeKeys } from './native-keys.js';
import { readLua } from './lua-files.js';

/** The modules that other layouts' libraries may use. */
export const NATIVE_MODULES = {
  read: readLua,
  modules: [
    ...['clock', 'partitioning', 'channel', 'scores', 'record', 'ids', 'claims', 'wake', 'dead', 'followers', 'groups'],
    ...['take-out', 'offers', 'rate', 'group-rate', 'take', 'transfer', 'pages', 'writes', 'settlement'],
  ],
  modulesByKey: { groups: 'permits', 'group-rate': 'rates' },
  functions: [],
};

/** The functions that stores call. */
const OF_STORES = [
  ...['offer', 'offer-unless-kept', 'free-id', 'cancel', 'reschedule', 'change', 'pause-repeat', 'abort'],
  ...['transfer', 'transfer-and-claim', 'claim', 'signal', 'extend', 'settle', 'settle-and-keep', 'remember'],
  ...['find', 'list', 'status', 'count-types', 'count-due', 'redrive', 'discard', 'repair'],
  ...['pause', 'resume', 'clear', 'agree'],
  ...['group', 'list-groups', 'set-group', 'list-holders'],
  ...['scan', 'restore', 'scan-handled', 'restore-handled', 'scan-kept', 'restore-kept'],
] as const;

/** The native layout's library. The comment at the top of each function's file is its contract. */
export const nativeLibrary = new RedisLibrary('nestjs-delay-queue: queues', [
  NATIVE_MODULES,
  {
    read: readLua,
    modules: ['settling', 'offering'],
    functions: [...OF_STORES, 'place', 'retire', 'report-worker', 'list-workers'],
  },
]);

/** The keys that these comments may name. Only stores for messages with groups pass the keys of groups. */
const layout: NativeKeys = groupKeys('', '');

export const nativeFunctions = nativeLibrary.defineAll(OF_STORES, layout);
