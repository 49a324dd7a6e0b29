import { beforeAll, describe, expect, test } from '@jest/globals';
import type { DelayQueueProducer } from '../../lib/index.js';
import { redissonFunctions } from '../../packages/redisson/src/redisson-library.js';
import { nativeFunctions } from '../../lib/store/native/native-library.js';
import { Handled } from '../support/handled.js';
import { isEmpty } from '../support/is-empty.js';
import { Latch } from '../support/latch.js';
import { layouts } from '../support/layouts.js';
import { Scene } from '../support/scene.js';
import { callsOf } from '../support/tcp-proxy/filters.js';
import { Proxies } from '../support/tcp-proxy/proxies.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const OFFER_TIMEOUT = 300;
const LAYOUTS = ['native', 'redisson'] as const;

/** Calls that are cut off before they arrive, and the script of each. */
const CALLS: Record<
  string,
  {
    readonly script: Parameters<typeof callsOf>[0];
    readonly cut: (producer: DelayQueueProducer, queue: string) => Promise<unknown>;
  }
> = {
  'offer() that replaces a message': {
    script: 'offer',
    cut: (producer, queue) => producer.offer(queue, 'old', '1h', { id: 'm', onDuplicate: 'replace' }),
  },
  'cancel()': { script: 'cancel', cut: (producer, queue) => producer.cancel(queue, 'm') },
  'reschedule()': { script: 'reschedule', cut: (producer, queue) => producer.reschedule(queue, 'm', '9h') },
  'clear()': { script: 'clear', cut: (producer, queue) => producer.clear(queue) },
};

describe('calls that arrive after their callers have given up', () => {
  const scene = new Scene({});
  // Loading it would take a part of the short time that these calls have.
  beforeAll(async () => {
    for (const { library } of [nativeFunctions.offer, redissonFunctions.offer])
      await scene.redis.function('LOAD', 'REPLACE', library.source);
  });
  const proxies = new Proxies(scene);
  const refusedLate = async () =>
    Number(/errorstat_LATE:count=(\d+)/.exec(await scene.redis.info('errorstats'))?.[1] ?? 0);

  describe.each(LAYOUTS)('in layout %s', (layout) => {
    const module = { offerTimeout: OFFER_TIMEOUT, consume: false, defaults: { layout: layouts[layout] } } as const;

    test.each(Object.entries(CALLS))(
      '%s does not undo what was acknowledged in the meantime',
      async (_, { script, cut }) => {
        const queue = scene.newQueue();
        const proxy = await proxies.start();
        const { producer } = await scene.startApp({ module: { ...module, connection: proxy.url } });
        await producer.offer(queue, 'first', '1h', { id: 'm' });
        // The server must know the script, or the call would be sent a second time.
        await cut(producer, scene.newQueue());

        const late = proxy.deliverLate(callsOf(script));
        const cutAt = performance.now();
        await expect(cut(producer, queue)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
        const { dueAt } = await producer.offer(queue, 'new', '2h', { id: 'm', onDuplicate: 'replace' });
        await until(() => performance.now() > cutAt + OFFER_TIMEOUT + 100);
        const before = await refusedLate();
        late.release();
        await until(async () => (await refusedLate()) === before + 1);
        expect(await producer.find(queue, 'm')).toMatchObject({ payload: 'new', state: 'delayed', dueAt });
      },
    );

    test("calls on a new connection keep their callers' deadlines, even if the server was slow to report its time", async () => {
      const queue = scene.newQueue();
      const proxy = await proxies.start();
      const { producer } = await scene.startApp({ module: { ...module, connection: proxy.url, offerTimeout: 1000 } });
      const replacing = { id: 'm', onDuplicate: 'replace' } as const;
      await producer.offer(queue, 'first', '1h', { id: 'm' });
      // The server must know the script, or the call would be sent a second time.
      await producer.offer(queue, 'second', '1h', replacing);
      const question = proxy.hold(({ command }) => command === 'TIME');
      proxy.reset();
      await until(() => question.count === 1);
      const askedAt = performance.now();
      const asked = producer.find(queue, 'm');
      await until(() => performance.now() > askedAt + 700);
      question.release();
      await asked;

      const late = proxy.deliverLate(callsOf('offer'));
      const cutAt = performance.now();
      await expect(producer.offer(queue, 'old', '1h', replacing)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
      await producer.offer(queue, 'new', '2h', replacing);
      await until(() => performance.now() > cutAt + 1100);
      const before = await refusedLate();
      late.release();
      await until(async () => (await refusedLate()) === before + 1);
      expect(await producer.find(queue, 'm')).toMatchObject({ payload: 'new' });
    });

    test('nothing is sent to a server that has not reported its time', async () => {
      const queue = scene.newQueue();
      const proxy = await proxies.start();
      const { producer } = await scene.startApp({ module: { ...module, connection: proxy.url } });
      const question = proxy.hold(({ command }) => command === 'TIME');
      const offers = proxy.watch(callsOf('offer'));
      proxy.reset();
      await expect(producer.offer(queue, 1, '1h', { id: 'm' })).rejects.toMatchObject({ code: 'NOT_CONNECTED' });
      expect(offers.count).toBe(0);
      question.release();
      await producer.offer(queue, 1, '1h', { id: 'm' });
      expect(offers.count).toBe(1);
    });

    test('a claim that has been replaced takes no messages', async () => {
      const queue = scene.newQueue();
      const handled = new Handled();
      const latch = new Latch();
      const proxy = await proxies.start();
      const { producer } = await scene.startApp({ module: { ...module, offerTimeout: '10s' } });
      const late = proxy.deliverLate(callsOf('claim'));
      const handler = handlerOf(
        queue,
        async (payload, message) => {
          handled.record(payload, message);
          await latch.opened;
        },
        { concurrency: 1, lease: '1h' },
      );
      await scene.startApp({
        module: { connection: proxy.url, defaults: { layout: layouts[layout] } },
        providers: [handler],
      });
      await until(() => late.count === 1);
      await producer.offer(queue, 1, 0, { id: 'busy' });
      await handled.until('busy');
      await producer.offer(queue, 2, 0, { id: 'ready' });
      await until(async () => (await producer.find(queue, 'ready'))?.state === 'ready');
      late.release();
      await until(() => proxy.connections.every(({ isOpen }) => isOpen));
      expect(await producer.find(queue, 'ready')).toMatchObject({ state: 'ready' });
      latch.open();
      await handled.until('ready');
      await until(() => isEmpty(producer, queue));
    });
  });
});
