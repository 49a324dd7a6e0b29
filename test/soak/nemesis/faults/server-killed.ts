import type { OneServer } from '../../servers/one-server.js';
import type { Fault } from '../fault.js';

/** The server writes each command to its file before it answers, so it must not lose what it acknowledged. */
export const serverKilled: Fault<OneServer> = {
  kind: 'server killed',
  of: 'server',
  costsLeases: true,
  strike: async ({ servers: { redis }, open, wait }, random) => {
    const length = random.int(0, 800);
    const close = open('all', `SIGKILL to Redis, restarted after ${length} ms`);
    await redis.kill9();
    await wait(length);
    await redis.restart();
    close();
  },
};
