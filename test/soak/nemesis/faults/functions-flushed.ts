import type { Fault } from '../fault.js';

/** Each call that misses its library then loads it, or runs as a script where memory is short. */
export const functionsFlushed: Fault = {
  kind: 'functions flushed',
  of: 'network',
  costsLeases: false,
  strike: async ({ servers, open }) => {
    const close = open('all', 'FUNCTION FLUSH');
    // Replicas refuse it, and get it from their primaries.
    await servers.ask('FUNCTION', 'FLUSH').catch(() => undefined);
    close();
  },
};
