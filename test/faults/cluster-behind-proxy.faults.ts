import { beforeAll, describe, expect, test } from '@jest/globals';
import type { QueueOptions } from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const QUEUES = 5;
const MESSAGES = 20;

/** A server that has all slots and refuses calls across slots to a client that does not know clusters, like a proxy before a cluster. */
describe('a cluster behind a proxy', () => {
  const scene = new Scene({ args: ['--cluster-enabled', 'yes'] });

  beforeAll(async () => {
    await scene.redis.call('CLUSTER', 'ADDSLOTSRANGE', 0, 16383);
    await until(async () => (await scene.redis.cluster('INFO')).includes('cluster_state:ok'));
  });

  const countRefusals = async () =>
    Number(/errorstat_CROSSSLOT:count=(\d+)/.exec(await scene.redis.info('errorstats'))?.[1] ?? 0);
  const countBlocked = async () =>
    (String(await scene.redis.client('LIST')).match(/name=delay-queue:wake-signals.*cmd=blpop/g) ?? []).length;

  test.each<[string, QueueOptions, number]>([
    ['the native layout', {}, QUEUES],
    ['the Redisson layout', { layout: redisson({ codec: 'json' }) }, QUEUES],
    ['partitions', { partitions: 2 }, QUEUES * 2],
  ])(
    'rejects one call, which is logged, and each queue or partition then waits on a separate connection: %s',
    async (_what, options, waiting) => {
      await scene.redis.config('RESETSTAT');
      const handled = new Handled();
      const queues = Array.from({ length: QUEUES }, () => scene.newQueue());
      const { producer, log } = await scene.startApp({
        providers: queues.map((queue) => handlerOf(queue, handled.record, options)),
        module: { queues: Object.fromEntries(queues.map((queue) => [queue, options])) },
      });
      for (let i = 0; i < MESSAGES; i++)
        await Promise.all(queues.map((queue) => producer.offer(queue, i, i * 20, { id: `${queue}-${i}` })));
      await handled.untilCalls(QUEUES * MESSAGES);
      expect(Math.max(...handled.calls.map(({ late }) => late))).toBeLessThan(1000);
      expect(await countRefusals()).toBe(1);
      await until(async () => (await countBlocked()) === waiting);
      expect(log.filter((line) => !line.startsWith('log '))).toEqual([
        expect.stringMatching(/^warn Redis refuses to wait for several queues in one call \(CROSSSLOT .*cluster/),
      ]);
    },
  );
});
