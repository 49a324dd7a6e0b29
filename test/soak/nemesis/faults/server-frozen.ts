import type { Fault } from '../fault.js';

export const serverFrozen: Fault = {
  kind: 'server frozen',
  of: 'server',
  costsLeases: true,
  strike: async ({ redis, open, wait }, random) => {
    const length = random.int(300, 1500);
    const close = open('all', `SIGSTOP to Redis for ${length} ms`);
    await redis.freeze();
    await wait(length);
    await redis.thaw();
    close();
  },
};
