import { RedisLibrary } from '../../redis/script/redis-library.js';
import { groupKeys, type NativeKeys } from './native-keys.js';
import { readLua } from './lua-files.js';

/** The modules that other layouts' libraries may use. */
export const NATIVE_MODULES = {
  read: readLua,
  modules: [
    ...['clock', 'partitioning', 'channel', 'scores', 'record', 'ids', 'claims', 'wake', 'dead', 'followers', 'groups'],
    ...['take-out', 'offers', 'rate', 'group-rate', 'take', 'transfer', 'pages', 'settlement'],
  ],
  modulesByKey: { groups: 'permits', 'group-rate': 'rates' },
  functions: [],
};

/** The file of each store function. */
const FILES = {
  offer: 'offer',
  offerUnlessKept: 'offer-unless-kept',
  freeId: 'free-id',
  cancel: 'cancel',
  reschedule: 'reschedule',
  change: 'change',
  find: 'find',
  transfer: 'transfer',
  transferAndClaim: 'transfer-and-claim',
  claim: 'claim',
  signal: 'signal',
  extend: 'extend',
  settle: 'settle',
  settleAndKeep: 'settle-and-keep',
  abort: 'abort',
  repair: 'repair',
  status: 'status',
  countTypes: 'count-types',
  countDue: 'count-due',
  pause: 'pause',
  resume: 'resume',
  pauseRepeat: 'pause-repeat',
  clear: 'clear',
  remember: 'remember',
  list: 'list',
  group: 'group',
  listGroups: 'list-groups',
  setGroup: 'set-group',
  listHolders: 'list-holders',
  redrive: 'redrive',
  discard: 'discard',
  agree: 'agree',
  scan: 'scan',
  restore: 'restore',
  scanHandled: 'scan-handled',
  scanKept: 'scan-kept',
  restoreHandled: 'restore-handled',
  restoreKept: 'restore-kept',
} as const;

/** The native layout's library. The comment at the top of each function's file is its contract. */
export const nativeLibrary = new RedisLibrary('nestjs-delay-queue: queues', [
  NATIVE_MODULES,
  {
    read: readLua,
    modules: ['settling', 'offering'],
    functions: [...Object.values(FILES), 'place', 'retire', 'report-worker', 'list-workers'],
  },
]);

/** The keys that these comments may name. Only stores for messages with groups pass the keys of groups. */
const layout: NativeKeys = groupKeys('', '');

export const nativeFunctions = nativeLibrary.defineAll(FILES, layout);
