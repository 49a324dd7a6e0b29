import type { Fault } from '../fault.js';

/** Large payloads are on their way for seconds, and whatever comes behind them waits as long. */
export const bandwidthLow: Fault = {
  kind: 'bandwidth low',
  of: 'network',
  costsLeases: true,
  strike: async ({ fleet, proxy, open, wait }, random) => {
    const bandwidth = random.int(50_000, 500_000);
    const length = random.int(1000, 4000);
    const close = open(fleet.behindProxy, `${bandwidth} bytes a second in each direction for ${length} ms`);
    const end = proxy.limitBandwidth(bandwidth);
    await wait(length);
    end();
    close();
  },
};
