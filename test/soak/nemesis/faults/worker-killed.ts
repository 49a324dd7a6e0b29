import type { Fault } from '../fault.js';

export const workerKilled: Fault = {
  kind: 'worker killed',
  of: 'process',
  costsLeases: true,
  strike: async ({ fleet, open }, random) => {
    await fleet.withOne(
      random,
      ({ role, veteran }) => role === 'worker' && !veteran,
      async (berth) => {
        const close = open([berth.process.index], `SIGKILL to worker ${berth.process.index}`);
        await berth.process.kill('SIGKILL');
        await fleet.replace(berth);
        close();
      },
    );
  },
};
