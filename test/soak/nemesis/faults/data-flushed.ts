import type { OneServer } from '../../servers/one-server.js';
import type { Fault } from '../fault.js';

/** Somebody empties Redis; what is offered afterwards must still be handled. */
export const dataFlushed: Fault<OneServer> = {
  kind: 'data flushed',
  of: 'server',
  costsLeases: true,
  forgets: true,
  strike: async ({ servers, now, open }) => {
    const close = open('all', 'FLUSHALL');
    await servers.ask('FLUSHALL');
    close([{ from: -Infinity, to: now() }]);
  },
};
