import { describe, expect, test } from '@jest/globals';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const LEASE = 1000;
/** Another process may begin when the lease ends; a busy machine may be late by this, ms. */
const SLACK = 500;

describe('Redis stops answering while a handler runs', () => {
  const scene = new Scene({});

  test('the signal aborts when the lease ends, though calls are still tried', async () => {
    const queue = scene.newQueue();
    let startedAt = 0;
    let abortedAt = 0;
    let reason = '';
    const handler = handlerOf(
      queue,
      (_payload, { signal }) =>
        new Promise<void>((resolve) => {
          startedAt = performance.now();
          signal.addEventListener('abort', () => {
            abortedAt = performance.now();
            reason = String(signal.reason);
            resolve();
          });
        }),
      { lease: LEASE },
    );
    const { producer } = await scene.startApp({ module: { offerTimeout: '5s' }, providers: [handler] });
    await producer.offer(queue, null, 0);
    await until(() => startedAt > 0);
    await scene.server.freeze();
    await until(() => abortedAt > 0, { within: 10_000 });
    await scene.server.thaw();
    expect(reason).toContain('LeaseLost');
    expect(abortedAt - startedAt).toBeLessThan(LEASE + SLACK);
  });
});
