import type { Fault } from '../fault.js';

export const serverPaused: Fault = {
  kind: 'server paused',
  of: 'server',
  costsLeases: true,
  strike: async ({ servers, open, wait }, random) => {
    const length = random.int(200, 1200);
    const close = open('all', `CLIENT PAUSE ${length}`);
    await servers.ask('CLIENT', 'PAUSE', length).catch(() => undefined);
    await wait(length);
    await servers.ask('CLIENT', 'UNPAUSE').catch(() => undefined);
    close();
  },
};
