import type { Fault } from '../fault.js';

/** Large payloads take seconds to arrive, and hold up everything behind them. */
export const bandwidthLow: Fault = {
  kind: 'bandwidth low',
  of: 'network',
  costsLeases: true,
  strike: async ({ fleet, servers, open, wait }, random) => {
    const bandwidth = random.int(50_000, 500_000);
    const length = random.int(1000, 4000);
    const close = open(fleet.behindProxy, `${bandwidth} bytes a second each way for ${length} ms`);
    const end = servers.network.limitBandwidth(bandwidth);
    await wait(length);
    end();
    close();
  },
};
