import { beforeAll, describe, expect, test } from '@jest/globals';
import type { DelayQueueProducer, HandledMessage, MessagePage } from '../../lib/index.js';
import { nativeLibrary } from '../../lib/store/native/native-library.js';
import { Scene } from '../support/scene.js';
import { callsOf } from '../support/tcp-proxy/filters.js';
import { Proxies } from '../support/tcp-proxy/proxies.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const LEASE = 1500;
const MESSAGES = 20;

/** The number of messages in the queue. */
async function countOf(producer: DelayQueueProducer, queue: string): Promise<number> {
  const { delayed, ready, active, dead } = await producer.counts(queue);
  return delayed + ready + active + dead;
}

describe('a process with a history that is killed', () => {
  const scene = new Scene();
  const proxies = new Proxies(scene);

  beforeAll(async () => {
    await scene.redis.function('LOAD', 'REPLACE', nativeLibrary.source);
  });

  test('between an entry and its outcome leaves one entry for each message, of its last attempt', async () => {
    const queue = scene.newQueue();
    const queues = { [queue]: { history: { for: '1h', payloads: true }, lease: LEASE, concurrency: 100 } } as const;
    const { producer } = await scene.startApp({ module: { consume: false } });
    const proxy = await proxies.start();
    const doomed = await scene.startWorker({ queue, module: { connection: proxy.url, queues } });
    await producer.offer(queue, null, 0, { id: 'first' });
    await until(async () => (await producer.find(queue, 'first', { handled: true }))?.state === 'handled');
    const hold = proxy.hold(callsOf('settle'));
    const ids = Array.from({ length: MESSAGES }, (_, i) => `m${i}`);
    await producer.offerMany(
      queue,
      ids.map((id) => ({ payload: null, delay: 0, id })),
    );
    const handled = async () => {
      const { messages } = await producer.list(queue, 'handled');
      return messages.filter(({ id }) => id !== 'first');
    };
    await until(async () => hold.count > 0 && (await handled()).length > 0, { within: 30_000 });
    await doomed.end('SIGKILL');
    const early = await handled();
    for (const { id, attempt } of early) {
      expect([attempt, (await producer.find(queue, id))?.state]).toEqual([1, 'active']);
    }

    await scene.startApp({ module: { queues }, providers: [handlerOf(queue, () => undefined)] });
    await until(async () => (await countOf(producer, queue)) === 0, { within: 30_000 });
    const entries = await handled();
    expect(entries.map(({ id }) => id).sort()).toEqual([...ids].sort());
    for (const { worker, payload } of entries) expect([worker.pid, payload]).toEqual([process.pid, null]);
    for (const { id } of early) expect(entries.find((each) => each.id === id)).toMatchObject({ attempt: 2 });
  });

  test('at any time leaves an entry for each message that is gone', async () => {
    const queue = scene.newQueue();
    const queues = { [queue]: { history: { for: '1h' }, lease: LEASE, concurrency: 4 } } as const;
    const { producer } = await scene.startApp({ module: { consume: false } });
    const count = 3000;
    const ids = Array.from({ length: count }, (_, i) => `m${i}`);
    for (let first = 0; first < count; first += 1000) {
      await producer.offerMany(
        queue,
        ids.slice(first, first + 1000).map((id) => ({ payload: null, delay: 0, id })),
      );
    }
    const left = () => countOf(producer, queue);
    for (let kills = 0; kills < 3; kills++) {
      const before = await left();
      const doomed = await scene.startWorker({ queue, module: { queues } });
      await until(async () => (await left()) < before - 100, { every: 1, within: 30_000 });
      await doomed.end('SIGKILL');
    }
    const rest = await left();
    expect(rest).toBeGreaterThan(0);
    const kept = new Set<string>();
    let cursor: string | undefined;
    do {
      const page: MessagePage<HandledMessage> = await producer.list(queue, 'handled', { limit: 1000, cursor });
      for (const { id } of page.messages) kept.add(id);
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
    const states = await Promise.all(ids.map(async (id) => (await producer.find(queue, id))?.state));
    const missing = ids.filter((id, i) => !states[i] && !kept.has(id));
    expect(missing).toEqual([]);
    console.log(`${count - rest} messages gone after three kills, ${kept.size} entries`);
  });
});
