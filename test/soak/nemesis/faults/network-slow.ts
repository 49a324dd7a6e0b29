import type { Fault } from '../fault.js';

export const networkSlow: Fault = {
  kind: 'network slow',
  of: 'network',
  costsLeases: false,
  strike: async ({ fleet, servers, open, wait }, random) => {
    const delay = random.int(20, 250);
    const close = open(fleet.behindProxy, `${delay} ms of latency each way`);
    const end = servers.network.slowDown(delay);
    await wait(random.int(1000, 3000));
    end();
    close();
  },
};
