import { beforeAll, describe, expect, test } from '@jest/globals';
import { nativeLibrary } from '../../lib/store/native/native-library.js';
import { isEmpty } from '../support/is-empty.js';
import { Scene } from '../support/scene.js';
import { callsOf } from '../support/tcp-proxy/filters.js';
import { Proxies } from '../support/tcp-proxy/proxies.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const LEASE = 1500;
const IDS = { for: '1h' } as const;

describe('a process that keeps ids and is killed', () => {
  const scene = new Scene();
  const proxies = new Proxies(scene);

  beforeAll(async () => {
    await scene.redis.function('LOAD', 'REPLACE', nativeLibrary.source);
  });

  test('between the end of its handlers and their outcomes leaves the messages, and no id is kept', async () => {
    const queue = scene.newQueue();
    const queues = { [queue]: { idsFor: IDS, lease: LEASE, concurrency: 100 } } as const;
    const { producer } = await scene.startApp({ module: { consume: false, queues } });
    const proxy = await proxies.start();
    const doomed = await scene.startWorker({ queue, module: { connection: proxy.url, queues } });
    await producer.offer(queue, null, 0, { id: 'first' });
    await until(async () => (await producer.find(queue, 'first')) === null);
    const hold = proxy.hold(callsOf('settleAndKeep'));
    const ids = Array.from({ length: 20 }, (_, i) => `m${i}`);
    await producer.offerMany(
      queue,
      ids.map((id) => ({ payload: null, delay: 0, id })),
    );
    await until(() => hold.count > 0, { within: 30_000 });
    await doomed.end('SIGKILL');
    expect(await producer.freeId(queue, 'm0')).toBe(false);
    expect(await scene.redis.zrange(scene.key(queue, 'kept'), '0', '-1')).toEqual(['first']);
    // Not handled yet, so the offer meets the message itself.
    expect(await producer.offer(queue, null, 0, { id: 'm0' })).not.toHaveProperty('handledAt');

    await scene.startApp({ module: { queues }, providers: [handlerOf(queue, () => undefined)] });
    await until(() => isEmpty(producer, queue), { within: 30_000 });
    for (const id of ids) {
      expect(await producer.offer(queue, null, 0, { id })).toMatchObject({
        created: false,
        handledAt: expect.any(Date),
      });
    }
  });

  test('at any time leaves each message either in the queue or with its id kept', async () => {
    const queue = scene.newQueue();
    const queues = { [queue]: { idsFor: IDS, lease: LEASE, concurrency: 4 } } as const;
    const { producer } = await scene.startApp({ module: { consume: false, queues } });
    const ids = Array.from({ length: 3000 }, (_, i) => `m${i}`);
    const requests = ids.map((id) => ({ payload: null, delay: 0, id }));
    await producer.offerMany(queue, requests);
    const left = async () => {
      const { ready, active, delayed } = await producer.counts(queue);
      return ready + active + delayed;
    };
    for (let kills = 0; kills < 3; kills++) {
      const before = await left();
      const doomed = await scene.startWorker({ queue, module: { queues } });
      await until(async () => (await left()) < before - 100, { every: 1, within: 30_000 });
      await doomed.end('SIGKILL');
    }
    const rest = await left();
    expect(rest).toBeGreaterThan(0);
    const results = await producer.offerMany(queue, requests);
    expect(results.filter(({ created }) => created)).toEqual([]);
    const handled = results.filter(({ handledAt }) => handledAt).length;
    expect(handled).toBe(ids.length - rest);
    console.log(`${handled} of ${ids.length} messages handled before and after three kills, and all of their ids kept`);
  });
});
