import { libraryBesideNative } from 'nestjs-delay-queue/layouts';
import { readLua } from './lua-files.js';
import { redissonKeys } from './redisson-keys.js';

const FUNCTIONS = [
  ...['offer', 'offer-replacing', 'cancel', 'reschedule', 'transfer', 'claim', 'signal', 'resume', 'clear'],
  ...['find', 'status', 'count-due', 'list-delayed', 'list-ready'],
  ...['entry-formats', 'list-values', 'count-values', 'seek-value', 'take-value'],
] as const;

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
  functions: FUNCTIONS,
});

/** The functions of Redisson's layout. The header of each is its contract. */
export const redissonFunctions = redissonLibrary.defineAll(FUNCTIONS, redissonKeys({ prefix: '', queue: 'any' }));
