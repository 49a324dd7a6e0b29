import { statSync, truncateSync } from 'node:fs';
import { newestLog } from '../../../support/redis/torn-log.js';
import type { OneServer } from '../../servers/one-server.js';
import type { Fault } from '../fault.js';

const LARGEST_CUT = 64 * 1024;

/** A disk that loses writes: the last bytes of the append-only file are gone when the server restarts. */
export const logTruncated: Fault<OneServer> = {
  kind: 'log truncated',
  of: 'server',
  costsLeases: true,
  forgets: true,
  strike: async ({ servers: { redis, data }, now, open }, random) => {
    const bytes = random.int(1, LARGEST_CUT);
    const close = open('all', `SIGKILL to Redis, and ${bytes} bytes cut off its append-only file`);
    await redis.kill9();
    const file = newestLog(data);
    truncateSync(file, Math.max(0, statSync(file).size - bytes));
    await redis.restart();
    close([{ from: -Infinity, to: now() }]);
  },
};
