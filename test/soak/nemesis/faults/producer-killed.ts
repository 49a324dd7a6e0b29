import type { Fault } from '../fault.js';

/** Offers that were not answered yet stay unknown for good. */
export const producerKilled: Fault = {
  kind: 'producer killed',
  of: 'process',
  costsLeases: false,
  strike: async ({ fleet, open }, random) => {
    await fleet.withOne(
      random,
      ({ role, veteran }) => role === 'producer' && !veteran,
      async (berth) => {
        const close = open([berth.process.index], `SIGKILL to producer ${berth.process.index}`);
        await berth.process.kill('SIGKILL');
        await fleet.replace(berth);
        close();
      },
    );
  },
};
