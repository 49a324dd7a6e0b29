import type { Fault } from '../fault.js';

/** About half of the connections through the proxy are reset, up to four times. */
export const connectionsReset: Fault = {
  kind: 'connections reset',
  of: 'network',
  costsLeases: true,
  strike: async ({ fleet, servers, open, wait }, random) => {
    const times = random.int(1, 4);
    const close = open(fleet.behindProxy, `RST to half of the connections, ${times} times`);
    for (let time = 1; time <= times; time++) {
      servers.network.reset(() => random.chance(0.5));
      await wait(150);
    }
    close();
  },
};
