import { persistently } from '../../servers/persistently.js';
import type { Fault } from '../fault.js';

/** Offers are refused, while transfer, handling and settling go on. */
export const outOfMemory: Fault = {
  kind: 'out of memory',
  of: 'server',
  costsLeases: false,
  strike: async ({ servers, open, wait }, random) => {
    const length = random.int(300, 1200);
    const close = open('all', `maxmemory 1mb for ${length} ms`);
    await servers.ask('CONFIG', 'SET', 'maxmemory', '1mb').catch(() => undefined);
    await wait(length);
    await persistently(() => servers.ask('CONFIG', 'SET', 'maxmemory', '0'));
    close();
  },
};
