import { expect, test } from '@jest/globals';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const scene = new Scene({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });

test('a process that starts before Redis is told once Redis is there that the queue has another number of partitions', async () => {
  const queue = scene.newQueue();
  const withPartitions = (partitions: number) => ({ offerTimeout: 300, queues: { [queue]: { partitions } } });
  const { producer } = await scene.startApp({ module: { queues: { [queue]: { partitions: 8 } } } });
  await producer.offer(queue, 0, '1h');
  await scene.server.kill9();
  const late = await scene.startApp({ module: withPartitions(4), providers: [handlerOf(queue, () => undefined)] });
  await scene.server.restart();
  await until(() =>
    late.log.some((line) => line.includes(`error DelayQueueError: Queue '${queue}' has partitions: 8, but`)),
  );
  await until(async () => {
    const error = await late.producer.offer(queue, 0, '1h').catch((thrown: unknown) => thrown);
    return (error as { code?: string }).code === 'INVALID_OPTION';
  });
  expect(await producer.counts(queue)).toMatchObject({ delayed: 1 });
});
