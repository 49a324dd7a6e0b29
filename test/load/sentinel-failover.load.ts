import { describe, expect, test } from '@jest/globals';
import type { DelayQueueModuleOptions } from '../../lib/index.js';
import { TirelessProducer } from '../faults/tireless-producer.js';
import { Handled } from '../support/handled.js';
import { isEmpty } from '../support/is-empty.js';
import { randomName } from '../support/random-name.js';
import { RedisSentinels } from '../support/redis/redis-sentinels.js';
import { handlerOf, startTestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

describe('a failover requested from a sentinel', () => {
  const MIN_REPLICAS = ['--min-replicas-to-write', '1', '--min-replicas-max-lag', '2'];

  test.each<[string, string[], Partial<{ failoverDetector: boolean }>]>([
    ['by default', [], {}],
    ['without failoverDetector', [], { failoverDetector: false }],
    ['with min-replicas-to-write', MIN_REPLICAS, {}],
    ['with min-replicas-to-write, without failoverDetector', MIN_REPLICAS, { failoverDetector: false }],
  ])('lets work continue, and the acknowledged messages that it loses are counted: %s', async (how, args, options) => {
    const servers = await RedisSentinels.start(args);
    const queue = randomName('orders');
    const handled = new Handled();
    const connection: DelayQueueModuleOptions['connection'] = { ...servers.connection, ...options };
    const app = await startTestApp(
      { connection, offerTimeout: 1000 },
      { providers: [handlerOf(queue, handled.record, { lease: '2s', attempts: 100 })] },
    );
    const offering = new TirelessProducer(app.producer, queue, { name: 'p', hands: 4 });
    await handled.untilCalls(200);
    await servers.failOver();
    await handled.untilCalls(handled.calls.length + 200, { within: 20_000 });
    await offering.stop();
    await until(() => isEmpty(app.producer, queue), { within: 30_000, every: 50 });
    const ids = new Set(handled.ids);
    const lost = offering.acknowledged.filter((id) => !ids.has(id)).length;
    console.log(`SENTINEL FAILOVER ${how}: ${lost} of ${offering.acknowledged.length} acknowledged messages were lost`);
    expect(ids.size).toBeGreaterThan(400);
    await app.close();
    await servers.stop();
  });
});
