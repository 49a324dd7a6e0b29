import type { Fault } from '../fault.js';

export const serverFrozen: Fault = {
  kind: 'server frozen',
  of: 'server',
  strike: async ({ redis, log, wait }, random) => {
    const length = random.int(300, 1500);
    const close = log.open('server frozen', 'all', `SIGSTOP to Redis for ${length} ms`);
    await redis.freeze();
    await wait(length);
    await redis.thaw();
    close();
  },
};
