import { loadBesideNative } from 'nestjs-delay-queue/layouts';
import { readLua } from './lua-files.js';
import { redissonKeys } from './redisson-keys.js';

/** The keys that headers may name. */
const layout = redissonKeys({ prefix: '', queue: 'any' });

/** The scripts include parts of the native bookkeeping. */
const load = (name: string) => loadBesideNative(`redisson/${name}`, readLua, layout);

/** The scripts of Redisson's layout; each file's header is its contract. */
export const redissonScripts = {
  offer: load('offer'),
  offerReplacing: load('offer-replacing'),
  cancel: load('cancel'),
  reschedule: load('reschedule'),
  find: load('find'),
  transfer: load('transfer'),
  claim: load('claim'),
  ring: load('ring'),
  status: load('status'),
  listDelayed: load('list-delayed'),
  listReady: load('list-ready'),
  resume: load('resume'),
  clear: load('clear'),
  entryFormats: load('entry-formats'),
  listValues: load('list-values'),
  countValues: load('count-values'),
  seekValue: load('seek-value'),
  takeValue: load('take-value'),
};
