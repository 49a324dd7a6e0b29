import { describe, expect, test } from '@jest/globals';
import { defer, from, of, throwError, timer } from 'rxjs';
import { delay as delayed, switchMap } from 'rxjs/operators';
import { type BackoffOptions, DeferMessage, type DelayedMessage, RejectMessage } from '../../lib/index.js';
import { Handled } from '../support/handled.js';
import { isEmpty } from '../support/is-empty.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** The extra time that a wait may take on a busy machine. */
const SLACK = 1000;

function expectWait(wait: number, least: number, most = least): void {
  // Each clock's rounding can take half a millisecond.
  expect(wait).toBeGreaterThanOrEqual(least - 1);
  expect(wait).toBeLessThan(most + SLACK);
}

describe('retries', () => {
  const scene = new Scene();

  async function failTwice(backoff: BackoffOptions) {
    const queue = scene.newQueue();
    const handled = new Handled();
    const handler = (payload: unknown, message: DelayedMessage) => {
      handled.record(payload, message);
      if (message.attempt <= 2) throw new Error(`failure ${message.attempt}`);
    };
    const { producer } = await scene.startApp({ providers: [handlerOf(queue, handler, { backoff })] });
    const { id } = await producer.offer(queue, 'work', 0);
    await handled.untilCalls(3);
    await until(async () => (await producer.find(queue, id)) === null);
    const [first, second, third] = handled.calls;
    return { calls: handled.calls, waits: [second!.at - first!.at, third!.at - second!.at] as const };
  }

  test('call the handler again after each of two failures, with a fixed backoff before each call', async () => {
    const { calls, waits } = await failTwice({ type: 'fixed', delay: 150 });

    expect(calls.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(1);
    expectWait(waits[0], 150);
    expectWait(waits[1], 150);
    for (const { late } of calls) expect(late).toBeLessThan(SLACK);
  });

  test('wait longer each time by the factor of an exponential backoff, up to maxDelay', async () => {
    const backoff = { type: 'exponential', delay: 100, factor: 4, maxDelay: 300, jitter: 0 } as const;
    const { waits } = await failTwice(backoff);

    expectWait(waits[0], 100);
    expectWait(waits[1], 300);
  });

  test('keep jitter within its bounds', async () => {
    const { waits } = await failTwice({ type: 'fixed', delay: 200, jitter: 0.5 });

    expectWait(waits[0], 100, 300);
    expectWait(waits[1], 100, 300);
  });

  test('pass the number of the failed attempt and its error to a backoff function', async () => {
    const seen: unknown[] = [];
    const { waits } = await failTwice((attempt, error) => {
      seen.push([attempt, (error as Error).message]);
      return attempt === 1 ? '50ms' : 120;
    });

    expect(seen).toEqual([
      [1, 'failure 1'],
      [2, 'failure 2'],
    ]);
    expectWait(waits[0], 50);
    expectWait(waits[1], 120);
  });
});

describe('a message', () => {
  const scene = new Scene();

  test('is redelivered after the given delay when it is deferred, without spending an attempt', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const handler = handlerOf(
      queue,
      (payload, message) => {
        handled.record(payload, message);
        if (handled.calls.length < 4) throw new DeferMessage(60);
      },
      { attempts: 2 },
    );
    const { producer } = await scene.startApp({ providers: [handler] });

    const { id } = await producer.offer(queue, 'later', 0);
    await handled.untilCalls(4);
    await until(async () => (await producer.find(queue, id)) === null);

    expect(handled.calls.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1]);
    handled.calls.slice(1).forEach(({ at }, i) => expectWait(at - handled.calls[i]!.at, 60));
    expect(await producer.counts(queue)).toMatchObject({ dead: 0 });
  });

  test('succeeds or fails according to the value, promise or Observable of its handler', async () => {
    const queue = scene.newQueue();
    const completed: string[] = [];
    const ways: Record<string, () => unknown> = {
      value: () => 42,
      promise: () => Promise.resolve(42),
      observable: () => from([1, 2, 3]).pipe(delayed(30)),
      'empty observable': () => from([]),
      'lazy observable': () => defer(() => of(completed.push('subscribed'))),
      throw: () => {
        throw new TypeError('thrown');
      },
      rejection: () => Promise.reject(new RangeError('rejected')),
      'failing observable': () => timer(20).pipe(switchMap(() => throwError(() => new SyntaxError('emitted')))),
    };
    const { producer } = await scene.startApp({
      providers: [handlerOf<string>(queue, (way) => ways[way]!(), { attempts: 1 })],
    });

    for (const way of Object.keys(ways)) await producer.offer(queue, way, 0, { id: way });
    await until(() => isEmpty(producer, queue, { dead: 3 }));

    const { messages: letters } = await producer.deadLetters(queue).list();
    expect(Object.fromEntries(letters.map(({ id, error }) => [id, error.name]))).toEqual({
      throw: 'TypeError',
      rejection: 'RangeError',
      'failing observable': 'SyntaxError',
    });
    expect(completed).toEqual(['subscribed']);
  });

  test('becomes a dead letter at once when it is rejected, however many attempts are left', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const handler = handlerOf(queue, (payload, message) => {
      handled.record(payload, message);
      throw new RejectMessage('no such order');
    });
    const { producer } = await scene.startApp({ providers: [handler] });

    await producer.offer(queue, { orderId: 1 }, 0, { id: 'hopeless' });
    await until(async () => (await producer.counts(queue)).dead === 1);

    const { messages: letters } = await producer.deadLetters(queue).list();
    expect(letters).toMatchObject([
      { id: 'hopeless', failedAttempts: 1, error: { name: 'RejectMessage', message: 'no such order' } },
    ]);
    expect(handled.calls).toHaveLength(1);
  });
});
