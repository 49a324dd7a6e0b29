import type { Role } from '../../processes/fleet.js';
import type { Fault } from '../fault.js';

const killed = (role: Role, { costsLeases }: Pick<Fault, 'costsLeases'>): Fault => ({
  kind: `${role} killed`,
  of: 'process',
  costsLeases,
  strike: async ({ fleet, open }, random) => {
    await fleet.withOne(
      random,
      (berth) => berth.role === role && !berth.veteran,
      async (berth) => {
        const close = open([berth.process.index], `SIGKILL to ${role} ${berth.process.index}`);
        await berth.process.kill('SIGKILL');
        await fleet.replace(berth);
        close();
      },
    );
  },
});

export const workerKilled = killed('worker', { costsLeases: true });

/** Offers that were not answered yet stay unknown for good. */
export const producerKilled = killed('producer', { costsLeases: false });
