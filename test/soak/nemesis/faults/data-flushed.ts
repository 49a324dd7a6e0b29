import type { Fault } from '../fault.js';

/** Somebody empties Redis. What is offered afterwards must be handled all the same. */
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
