import { loadScript } from '../redis/redis-script.js';
import { directoryKeys } from './directory.keys.js';

/** The script of the directory of queues. */
export const directoryScripts = {
  retire: loadScript('native/retire', directoryKeys('')),
};
