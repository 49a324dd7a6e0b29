import { loadScript } from '../../redis/script/redis-script.js';
import { readLua } from './lua-files.js';
import { nativeKeys } from './native-keys.js';

/** The keys that headers may name. */
const layout = nativeKeys('', '');

const load = (name: string) => loadScript(`native/${name}`, layout, { native: readLua });

/** The scripts of the native layout; each file's header is its contract. */
export const nativeScripts = {
  offerNew: load('offer-new'),
  offer: load('offer'),
  cancel: load('cancel'),
  reschedule: load('reschedule'),
  find: load('find'),
  transfer: load('transfer'),
  claim: load('claim'),
  transferAndClaim: load('transfer-and-claim'),
  ring: load('ring'),
  extend: load('extend'),
  ack: load('ack'),
  settle: load('settle'),
  abort: load('abort'),
  repair: load('repair'),
  status: load('status'),
  countTypes: load('count-types'),
  pause: load('pause'),
  resume: load('resume'),
  clear: load('clear'),
  list: load('list'),
  redrive: load('redrive'),
  discard: load('discard'),
  agree: load('agree'),
};
