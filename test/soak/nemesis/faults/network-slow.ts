import type { Fault } from '../fault.js';

export const networkSlow: Fault = {
  kind: 'network slow',
  of: 'network',
  strike: async ({ fleet, proxy, log, wait }, random) => {
    const delay = random.int(20, 250);
    const close = log.open('network slow', fleet.behindProxy, `${delay} ms more in each direction`);
    const end = proxy.slowDown(delay);
    await wait(random.int(1000, 3000));
    end();
    close();
  },
};
