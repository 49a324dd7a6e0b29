import type { ReplicatedServers } from '../../servers/replicated-servers.js';
import type { Fault } from '../fault.js';

/** A replica takes over on demand, as before maintenance. */
export const plannedFailover: Fault<ReplicatedServers> = {
  kind: 'planned failover',
  of: 'server',
  costsLeases: true,
  replaces: true,
  strike: async ({ servers, now, open }, random) => {
    const primary = await servers.choosePrimary(random);
    const close = open('all', `a replica takes over from the primary at port ${primary.server.port}`);
    const from = now();
    await primary.replicate();
    await primary.failOver();
    close(servers.handsOverAll ? [] : [{ from, to: now() }]);
  },
};
