import { describe, expect, test } from '@jest/globals';
import { Redis, type RedisOptions } from 'ioredis';
import { Redis as Redis5 } from 'ioredis-5';
import type { DelayQueueModuleOptions } from '../../lib/index.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const OlderRedis = Redis5 as unknown as typeof Redis;

/** Options that an application may use for its own clients. */
const CHOSEN: RedisOptions = {
  retryStrategy: () => null,
  reconnectOnError: () => 2,
  enableAutoPipelining: true,
  stringNumbers: true,
  replyMapping: 'resp3',
  commandTimeout: 50,
  socketTimeout: 50,
  maxRetriesPerRequest: null,
};

describe("an application's own client options", () => {
  const scene = new Scene({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });

  test.each<[string, () => DelayQueueModuleOptions['connection']]>([
    ['given as options', () => ({ host: scene.server.host, port: scene.server.port, ...CHOSEN })],
    ['given in a URL', () => `${scene.url}?enableAutoPipelining=true&stringNumbers=true&commandTimeout=50`],
    ['set in an ioredis 6 client', () => (overrides) => new Redis(scene.url, { ...CHOSEN, ...overrides })],
    ['set in an ioredis 5 client', () => (overrides) => new OlderRedis(scene.url, { ...CHOSEN, ...overrides })],
  ])('do not disturb the module if %s, and announcements resume after an outage', async (how, connection) => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer, log } = await scene.startApp({
      module: { connection: connection() },
      providers: [handlerOf(queue, handled.record)],
    });
    await producer.offer(queue, 1, 0, { id: 'before' });
    await handled.until('before');

    await scene.server.kill9();
    await until(() => log.some((line) => line.includes('announcements') && line.startsWith('error')));
    await scene.server.restart();
    const channel = `${scene.prefix}:{${queue}}:due`;
    await until(async () => Number((await scene.redis.pubsub('NUMSUB', channel))[1]) > 0);
    await until(() => producer.offer(queue, 2, 100, { id: 'after' }).then(() => true));
    const { late } = await handled.until('after');
    // A message whose announcement is lost waits for the next check, a minute later.
    expect(late).toBeLessThan(2000);

    const warnings = log.filter((line) => line.startsWith('warn') && line.includes('ignores yours'));
    expect(warnings).toHaveLength(how.startsWith('given') ? 1 : 0);
    if (warnings[0]) expect(warnings[0]).toMatch(/enableAutoPipelining \(.+\); stringNumbers \(.+\)/);
  });
});
