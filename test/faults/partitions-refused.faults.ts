import { expect, test } from '@jest/globals';
import { refusalOf } from '../support/refusal.js';
import { Scene } from '../support/scene.js';

const scene = new Scene({ args: ['--min-replicas-to-write', '1'] });

test('offers to a queue with partitions fail without an unhandled rejection while Redis accepts no writes, and succeed afterwards', async () => {
  const queue = scene.newQueue();
  const { producer } = await scene.startApp({ module: { queues: { [queue]: { partitions: 4 } } } });
  for (let i = 0; i < 3; i++) {
    expect(await refusalOf(producer.offer(queue, i, '1h'))).toMatchObject({ code: 'STORE_REFUSED' });
  }
  await scene.redis.config('SET', 'min-replicas-to-write', '0');
  await producer.offer(queue, 0, '1h', { id: 'm' });
  expect(await producer.find(queue, 'm')).toMatchObject({ state: 'delayed' });
});
