import type { OneServer } from '../../servers/one-server.js';
import type { Fault } from '../fault.js';

export const serverFrozen: Fault<OneServer> = {
  kind: 'server frozen',
  of: 'server',
  costsLeases: true,
  strike: async ({ servers: { redis }, open, wait }, random) => {
    const length = random.int(300, 1500);
    const close = open('all', `SIGSTOP to Redis for ${length} ms`);
    await redis.freeze();
    await wait(length);
    await redis.thaw();
    close();
  },
};
