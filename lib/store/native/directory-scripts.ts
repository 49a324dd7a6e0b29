import { loadScript } from '../../redis/redis-script.js';
import { directoryKeys } from './directory-keys.js';
import { readLua } from './lua-files.js';

/** The script of the directory of queues. */
export const directoryScripts = {
  retire: loadScript('native/retire', directoryKeys(''), { native: readLua }),
};
