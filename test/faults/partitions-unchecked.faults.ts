import { expect, test } from '@jest/globals';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const scene = new Scene({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });

test.each([
  [4, 8],
  [16, 16],
])(
  'a process started without Redis, with partitions: %i, agrees with the others on %i once Redis is up',
  async (own, agreed) => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const withPartitions = (partitions: number) => ({ offerTimeout: 300, queues: { [queue]: { partitions } } });
    const { producer } = await scene.startApp({ module: { queues: { [queue]: { partitions: 8 } } } });
    await producer.offer(queue, 0, '1h');
    await scene.server.kill9();
    const late = await scene.startApp({ module: withPartitions(own), providers: [handlerOf(queue, handled.record)] });
    await scene.server.restart();
    await until(async () =>
      (await scene.redis.get(scene.key(queue, 'partitions')))?.startsWith(`${own > 8 ? '3' : '2'} ${agreed}`),
    );
    const reported = `warn ${queue}: this process is configured with partitions: 4, but the queue has 8`;
    await until(() => late.log.some((line) => line.startsWith(reported)) === own < 8);
    await until(() => late.producer.offer(queue, 0, '1h'));
    for (let i = 0; i < 20; i++) await producer.offer(queue, 0, 0, { id: `m${i}` });
    await handled.untilCalls(20);
    expect(await producer.counts(queue)).toMatchObject({ delayed: 2 });
  },
);
