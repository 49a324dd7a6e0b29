import type { Fault } from '../fault.js';

export const serverPaused: Fault = {
  kind: 'server paused',
  of: 'server',
  costsLeases: true,
  strike: async ({ admin, open, wait }, random) => {
    const length = random.int(200, 1200);
    const close = open('all', `CLIENT PAUSE ${length}`);
    await admin.client('PAUSE', length).catch(() => undefined);
    await wait(length);
    await admin.client('UNPAUSE').catch(() => undefined);
    close();
  },
};
