import { loadScript, type RedisScript } from '../../redis/script/redis-script.js';
import { readLua } from './lua-files.js';
import { type NativeKeys, nativeKeys } from './native-keys.js';

type NativeScript = RedisScript<keyof NativeKeys>;

/** The scripts with which a store works; each file's header is its contract. */
export type NativeScripts = ReturnType<typeof loadAll> & { readonly transferAndClaim?: NativeScript };

/** @param load - loads the script of a name */
export function loadAll(load: (name: string) => NativeScript) {
  return {
    offerNew: load('offer-new'),
    offer: load('offer'),
    cancel: load('cancel'),
    reschedule: load('reschedule'),
    change: load('change'),
    find: load('find'),
    transfer: load('transfer'),
    claim: load('claim'),
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
  };
}

/** The keys that headers may name. */
const layout = nativeKeys('', '');

const load = (name: string) => loadScript(`native/${name}`, layout, { native: readLua });

/** The scripts of the native layout. */
export const nativeScripts = { ...loadAll(load), transferAndClaim: load('transfer-and-claim'), agree: load('agree') };
