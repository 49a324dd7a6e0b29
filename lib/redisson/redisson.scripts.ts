import { readLua as readLuaOfStore } from '../store/lua-files.js';
import { loadScript } from '../store/redis/redis-script.js';
import { readLua } from './lua-files.js';
import { redissonKeys } from './redisson.keys.js';

/** What the path of each script of this layout begins with; parts of the native bookkeeping have another home. */
const HOME = 'redisson/';

/** The keys that headers may name. */
const layout = redissonKeys({ prefix: '', queue: 'any' });

const read = (path: string) => (path.startsWith(HOME) ? readLua(path.slice(HOME.length)) : readLuaOfStore(path));

const load = (name: string) => loadScript(HOME + name, layout, read);

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
