import { describe, expect, test } from '@jest/globals';
import { from } from 'rxjs';
import { again, type DelayedMessage, type QueueOptions } from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

type Handle = (payload: { count: number }, message: DelayedMessage) => unknown;

const WAYS: Record<string, (handle: Handle) => Handle> = {
  directly: (handle) => handle,
  'in a promise': (handle) => (payload, message) => Promise.resolve(handle(payload, message)),
  'as the last value of an Observable': (handle) => (payload, message) => from([1, 2, handle(payload, message)]),
};

describe.each([
  ['native', {}],
  ['redisson', { defaults: { layout: redisson() } }],
  ['memory', { store: 'memory' as const }],
])('again(), on %s', (_, module) => {
  const scene = new Scene();

  async function startApp(handle: Handle, options: QueueOptions = {}) {
    const queue = scene.newQueue();
    const { producer, log } = await scene.startApp({ module, providers: [handlerOf(queue, handle, options)] });
    return { queue, producer, log };
  }

  test.each(Object.entries(WAYS))(
    'redelivers the message until the handler returns something else: returned %s',
    async (...[, way]) => {
      const handled = new Handled();
      const { queue, producer } = await startApp(
        way(({ count }, message) => {
          handled.record(count, message);
          return count < 3 ? again(0, { payload: { count: count + 1 } }) : undefined;
        }),
      );
      await producer.offer(queue, { count: 1 }, 0, { id: 'reminder' });
      await handled.untilCalls(3);
      await until(async () => (await producer.find(queue, 'reminder')) === null);
      expect(handled.calls.map(({ id, payload, attempt }) => [id, payload, attempt])).toEqual([
        ['reminder', 1, 1],
        ['reminder', 2, 1],
        ['reminder', 3, 1],
      ]);
    },
  );

  test("keeps the message's payload and restores all its attempts", async () => {
    const handled = new Handled();
    const { queue, producer } = await startApp(
      (payload, message) => {
        handled.record(payload, message);
        if (handled.calls.length === 1) throw new Error('not yet');
        return handled.calls.length === 2 ? again(0) : again('1h');
      },
      { attempts: 2, backoff: { type: 'fixed', delay: 0 } },
    );
    await producer.offer(queue, { count: 7 }, 0, { id: 'reminder' });
    await handled.untilCalls(3);
    expect(handled.calls.map(({ payload, attempt }) => [payload, attempt])).toEqual([
      [{ count: 7 }, 1],
      [{ count: 7 }, 2],
      [{ count: 7 }, 1],
    ]);
    await until(async () => (await producer.find(queue, 'reminder'))?.state === 'delayed');
    expect(await producer.find(queue, 'reminder')).toMatchObject({ failedAttempts: 0, payload: { count: 7 } });
    expect(await producer.cancel(queue, 'reminder')).toBe(true);
  });

  test.each([
    ['cannot be encoded', Symbol('odd'), 'JSON cannot represent a symbol'],
    ['is too large', 'x'.repeat(300), 'maxPayloadBytes'],
  ])('fails the attempt if its new payload %s', async (_what, payload, reason) => {
    const { queue, producer, log } = await startApp(() => again(0, { payload }), {
      attempts: 1,
      maxPayloadBytes: 200,
    });
    await producer.offer(queue, { count: 1 }, 0, { id: 'reminder' });
    await until(async () => (await producer.counts(queue)).dead === 1);
    const { messages: letters } = await producer.deadLetters(queue).list();
    expect(letters).toMatchObject([{ payload: { count: 1 }, error: { name: 'DelayQueueError' } }]);
    expect(letters[0]!.error.message).toContain(reason);
    expect(log.filter((line) => line.includes('is a dead letter'))).toHaveLength(1);
  });

  test("is suggested in a single warning if the handler instead makes offers with its messages' own ids", async () => {
    let offers = 0;
    const { queue, producer, log } = await startApp(async ({ count }, { id }) => {
      const { created } = await producer.offer(queue, { count: count + 1 }, '1h', { id });
      expect(created).toBe(false);
      offers++;
    });
    await producer.offer(queue, { count: 1 }, 0, { id: 'reminder' });
    await until(() => offers === 1);
    await producer.offer(queue, { count: 1 }, 0, { id: 'other reminder' });
    await until(() => offers === 2);
    const warnings = log.filter((line) => line.includes('again('));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("message 'reminder'");
  });

  test('is not suggested when a message that is still delayed is offered again', async () => {
    const { queue, producer, log } = await startApp(() => undefined);
    await producer.offer(queue, { count: 1 }, '1h', { id: 'kept' });
    expect(await producer.offer(queue, { count: 1 }, '1h', { id: 'kept' })).toMatchObject({ created: false });
    expect(log.filter((line) => line.startsWith('warn') && line.includes(queue))).toEqual([]);
  });
});

describe("again(), with Redisson's codec", () => {
  const scene = new Scene();

  test.each([
    ['string', 'first', ''],
    ['buffer', Buffer.from('first'), Buffer.alloc(0)],
  ] as const)('%s hands on an empty payload', async (codec, first, empty) => {
    const handled = new Handled();
    const queue = scene.newQueue();
    const handle = (payload: unknown, message: DelayedMessage) => {
      handled.record(payload, message);
      return handled.calls.length === 1 ? again(0, { payload: empty }) : undefined;
    };
    const module = { defaults: { layout: redisson({ codec }) } };
    const { producer } = await scene.startApp({ module, providers: [handlerOf(queue, handle as never)] });
    await producer.offer(queue, first, 0);
    await handled.untilCalls(2);
    expect(handled.payloads).toEqual([first, empty]);
  });
});
