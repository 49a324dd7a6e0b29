import { libraryBesideNative } from 'nestjs-delay-queue/layouts';
import { readLua } from './lua-files.js';
import { redissonKeys } from './redisson-keys.js';

/** The library of Redisson's layout, on modules of the native one. */
const library = libraryBesideNative({
  read: readLua,
  modules: [
    ...[
      'entry',
      'sequence',
      'offered',
      'state',
      'forget',
      'removal-costs',
      'list-ends',
      'own-places',
      'locate',
      'unlist',
    ],
    ...['find-entries', 'find-offered', 'taken', 'store-offers'],
  ],
  functions: [
    ...[
      'cancel',
      'claim',
      'clear',
      'count-values',
      'entry-formats',
      'find',
      'list-delayed',
      'list-ready',
      'list-values',
      'offer',
    ],
    ...['offer-replacing', 'reschedule', 'resume', 'ring', 'seek-value', 'status', 'take-value', 'transfer'],
  ],
});

/** The keys that headers may name. */
const layout = redissonKeys({ prefix: '', queue: 'any' });

const define = (name: string) => library.define(name, layout);

/** The functions of Redisson's layout; the header of each is its contract. */
export const redissonFunctions = {
  offer: define('offer'),
  offerReplacing: define('offer-replacing'),
  cancel: define('cancel'),
  reschedule: define('reschedule'),
  find: define('find'),
  transfer: define('transfer'),
  claim: define('claim'),
  ring: define('ring'),
  status: define('status'),
  listDelayed: define('list-delayed'),
  listReady: define('list-ready'),
  resume: define('resume'),
  clear: define('clear'),
  entryFormats: define('entry-formats'),
  listValues: define('list-values'),
  countValues: define('count-values'),
  seekValue: define('seek-value'),
  takeValue: define('take-value'),
};
