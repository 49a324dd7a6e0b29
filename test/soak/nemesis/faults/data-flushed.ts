import type { Fault } from '../fault.js';

/** Somebody empties Redis; what is offered afterwards must still be handled. */
export const dataFlushed: Fault = {
  kind: 'data flushed',
  of: 'server',
  costsLeases: true,
  forgets: true,
  strike: async ({ admin, open }) => {
    const close = open('all', 'FLUSHALL');
    await admin.flushall();
    close();
  },
};
