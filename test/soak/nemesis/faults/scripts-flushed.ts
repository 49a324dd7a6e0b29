import type { Fault } from '../fault.js';

export const scriptsFlushed: Fault = {
  kind: 'scripts flushed',
  of: 'network',
  costsLeases: false,
  strike: async ({ admin, open }) => {
    const close = open('all', 'SCRIPT FLUSH');
    await admin.script('FLUSH').catch(() => undefined);
    close();
  },
};
