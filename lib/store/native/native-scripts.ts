import { loadScript, type RedisScript } from '../../redis/script/redis-script.js';
import { readLua } from './lua-files.js';
import { type NativeKeys, nativeKeys } from './native-keys.js';

type NativeScript = RedisScript<keyof NativeKeys>;

/** The scripts with which a store works; each file's header is its contract. */
export type NativeScripts = ReturnType<typeof loadAll> & Partial<ReturnType<typeof loadLean>>;

/** @param load - loads the script of a name */
export function loadAll(load: (name: string) => NativeScript) {
  return {
    offer: load('offer'),
    cancel: load('cancel'),
    reschedule: load('reschedule'),
    change: load('change'),
    find: load('find'),
    transfer: load('transfer'),
    claim: load('claim'),
    ring: load('ring'),
    extend: load('extend'),
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
  };
}

/** The scripts that do for less what others do, where nothing stands in the way. */
function loadLean(load: (name: string) => NativeScript) {
  return { offerNew: load('offer-new'), ack: load('ack'), transferAndClaim: load('transfer-and-claim') };
}

/** The keys that headers may name. */
const layout = nativeKeys('', '');

const load = (name: string) => loadScript(`native/${name}`, layout, { native: readLua });

/** The scripts of the native layout. */
export const nativeScripts = { ...loadAll(load), ...loadLean(load), agree: load('agree') };
