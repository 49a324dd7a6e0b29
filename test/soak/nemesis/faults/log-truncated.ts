import { readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
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

/** The file that Redis was writing to, which has the highest number. */
function newestLog(data: string): string {
  const folder = join(data, 'appendonlydir');
  const numberOf = (name: string) => Number(/\.(\d+)\.incr\.aof$/.exec(name)?.[1] ?? 0);
  const newest = readdirSync(folder)
    .sort((a, b) => numberOf(a) - numberOf(b))
    .at(-1);
  if (newest === undefined || numberOf(newest) === 0) throw new Error(`There is no append-only file in ${folder}.`);
  return join(folder, newest);
}
