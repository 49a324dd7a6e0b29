import type { Fault } from '../fault.js';

export const scriptsFlushed: Fault = {
  kind: 'scripts flushed',
  of: 'network',
  costsLeases: false,
  strike: async ({ servers, open }) => {
    const close = open('all', 'SCRIPT FLUSH');
    await servers.ask('SCRIPT', 'FLUSH').catch(() => undefined);
    close();
  },
};
