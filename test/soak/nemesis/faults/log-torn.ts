import { statSync, truncateSync } from 'node:fs';
import { newestLog } from '../../../support/redis/torn-log.js';
import { countMiscounted, countStray, countUnleased } from '../../observer/stray-messages.js';
import { persistently } from '../../servers/persistently.js';
import type { OneServer } from '../../servers/one-server.js';
import type { Fault } from '../fault.js';
import { untilRepaired } from '../until-repaired.js';

/** How much of the log may be torn: what was written in the last milliseconds. */
const MAX_TAIL = 50;

/**
 * A power failure that tears the last write to the append-only file at any byte. If that is within a script, Redis cuts the file behind
 * one of its commands, goes on behind an open MULTI, and replays a part of the script at its next start, with all that follows. So what
 * was acknowledged between is uncertain, too; everything before is intact.
 */
export const logTorn: Fault<OneServer> = {
  kind: 'log torn',
  of: 'server',
  costsLeases: true,
  forgets: true,
  disorders: true,
  crowds: true,
  strike: async (context, random) => {
    const {
      servers: { redis, data, client },
      queues,
      now,
      open,
      wait,
    } = context;
    const from = now();
    const before = newestLog(data);
    const intact = statSync(before).size;
    await wait(random.int(1, MAX_TAIL));
    const close = open(
      'all',
      'SIGKILL to Redis, its append-only file torn within the last writes, and another SIGKILL',
    );
    await redis.kill9();
    const file = newestLog(data);
    truncateSync(file, random.int(file === before ? intact : 0, statSync(file).size));
    await redis.restart();
    await wait(random.int(500, 2000));
    await redis.kill9();
    await redis.restart();
    const to = now();
    await untilRepaired(context, random, () =>
      persistently(async () => {
        const counts = await Promise.all(
          queues.flatMap((keys) => [countStray, countUnleased, countMiscounted].map((count) => count(client, keys))),
        );
        return counts.every((count) => count === 0);
      }),
    );
    close([{ from, to }]);
  },
};
