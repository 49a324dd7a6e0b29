import type { Fault } from '../fault.js';

export const serverPaused: Fault = {
  kind: 'server paused',
  of: 'server',
  strike: async ({ admin, log, wait }, random) => {
    const length = random.int(200, 1200);
    const close = log.open('server paused', 'all', `CLIENT PAUSE ${length}`);
    await admin.client('PAUSE', length).catch(() => undefined);
    await wait(length);
    await admin.client('UNPAUSE').catch(() => undefined);
    close();
  },
};
