import { libraryBesideNative } from 'nestjs-delay-queue/layouts';
import { readLua } from './lua-files.js';
import { redissonKeys } from './redisson-keys.js';

/** The file of each function. */
const FILES = {
  offer: 'offer',
  offerReplacing: 'offer-replacing',
  cancel: 'cancel',
  reschedule: 'reschedule',
  find: 'find',
  transfer: 'transfer',
  claim: 'claim',
  signal: 'signal',
  status: 'status',
  countDue: 'count-due',
  listDelayed: 'list-delayed',
  listReady: 'list-ready',
  resume: 'resume',
  clear: 'clear',
  entryFormats: 'entry-formats',
  listValues: 'list-values',
  countValues: 'count-values',
  seekValue: 'seek-value',
  takeValue: 'take-value',
} as const;

/** The library of Redisson's layout, with modules of the native one. */
export const redissonLibrary = libraryBesideNative('redisson', {
  read: readLua,
  modules: [
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
    'find-entries',
    'find-offered',
    'taken',
    'store-offers',
  ],
  functions: Object.values(FILES),
});

/** The functions of Redisson's layout. The header of each is its contract. */
export const redissonFunctions = redissonLibrary.defineAll(FILES, redissonKeys({ prefix: '', queue: 'any' }));
