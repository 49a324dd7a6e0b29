import type { Fault } from '../fault.js';

export const scriptsFlushed: Fault = {
  kind: 'scripts flushed',
  of: 'network',
  strike: async ({ admin, log }) => {
    const close = log.open('scripts flushed', 'all', 'SCRIPT FLUSH');
    await admin.script('FLUSH').catch(() => undefined);
    close();
  },
};
