import { describe, expect, test } from '@jest/globals';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const LEASE = 1000;
/** How late the signal may be on a busy machine, ms; another process may start when the lease ends. */
const SLACK = 2000;

describe('a handler whose Redis stops answering', () => {
  const scene = new Scene({});

  test('is aborted when its lease ends, even if calls are still pending', async () => {
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
    await until(() => abortedAt > 0, { within: 30_000 });
    await scene.server.thaw();
    expect(reason).toContain('LeaseLost');
    expect(abortedAt - startedAt).toBeLessThan(LEASE + SLACK);
  });
});
