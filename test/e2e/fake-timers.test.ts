import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';

describe.each([
  ['Redis', {}],
  ['memory', { store: 'memory' as const }],
])("the test framework's fake timers, on %s", (_, module) => {
  // Before the scene waits for applications to close.
  afterEach(() => {
    jest.useRealTimers();
  });
  const scene = new Scene();

  test('do not prevent the producer from responding', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ module, providers: [handlerOf(queue, handled.record)] });
    await producer.counts(queue);
    jest.useFakeTimers();
    const { id } = await producer.offer(queue, 'a', '1h');
    await Promise.all([producer.offer(queue, 'b', '1h'), producer.offer(queue, 'c', '1h')]);
    await producer.offerMany(queue, [{ payload: 'd', delay: '1h' }]);
    expect(await producer.cancel(queue, id)).toBe(true);
    expect(await producer.counts(queue)).toMatchObject({ delayed: 3 });
  });
});

describe("the test framework's fake timers, in memory", () => {
  // Before the scene waits for applications to close.
  afterEach(() => {
    jest.useRealTimers();
  });
  const scene = new Scene();

  test('let an application start, and its messages follow the fake time', async () => {
    jest.useFakeTimers();
    const queue = scene.newQueue();
    const handled = new Handled();
    const providers = [handlerOf(queue, handled.record)];
    const { producer } = await scene.startApp({ module: { store: 'memory' }, providers });
    await producer.offer(queue, 'a', '30m');
    await jest.advanceTimersByTimeAsync(30 * 60_000 - 1);
    expect(handled.calls).toEqual([]);
    await jest.advanceTimersByTimeAsync(10);
    expect(handled.calls).toHaveLength(1);
  });
});
