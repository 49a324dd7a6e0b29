import type { ReplicatedServers } from '../../servers/replicated-servers.js';
import type { Fault } from '../fault.js';

/** A replica takes over; the killed server comes back as a replica, with nothing of its own. */
export const primaryKilled: Fault<ReplicatedServers> = {
  kind: 'primary killed',
  of: 'server',
  costsLeases: true,
  replaces: true,
  strike: async ({ servers, now, open, wait }, random) => {
    const primary = await servers.choosePrimary(random);
    const close = open('all', `SIGKILL to the primary at port ${primary.server.port}`);
    const from = now();
    await primary.replicate();
    await primary.server.kill9();
    // Acknowledged since the replicas were known to have everything: that may be lost with the primary.
    const forgotten = { from, to: now() };
    await primary.untilReplaced();
    await wait(random.int(0, 2000));
    const backAt = now();
    await primary.server.restart();
    await servers.untilWhole();
    // Clients of a sentinel that has not heard of the failover yet write to the empty server.
    const astray = servers.knowsWhenBack ? [] : [{ from: backAt, to: now() }];
    close([forgotten, ...astray]);
  },
};
