import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DelayedMessage } from '../../lib/index.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

describe('long handlers', () => {
  const scene = new Scene();

  test('are aborted at their timeout, free their slots and spend an attempt', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const aborted: string[] = [];
    const handler = handlerOf<string>(
      queue,
      (payload: string, message: DelayedMessage<string>) => {
        handled.record(payload, message);
        if (payload !== 'hangs') return undefined;
        message.signal.addEventListener('abort', () => aborted.push((message.signal.reason as Error).name));
        return new Promise(() => undefined);
      },
      { timeout: 150, concurrency: 1, attempts: 2, backoff: { type: 'fixed', delay: 10 } },
    );
    const { producer } = await scene.startApp({ providers: [handler] });
    await producer.offer(queue, 'hangs', 0, { id: 'hangs' });
    await handled.untilCalls(1);
    await producer.offer(queue, 'quick', 0, { id: 'quick' });
    const { at } = await handled.until('quick');
    await until(async () => (await producer.find(queue, 'hangs'))?.state === 'dead');

    expect(at - handled.calls[0]!.at).toBeLessThan(150 + 250);
    expect(handled.of('hangs').map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(aborted).toEqual(['HandlerTimeout', 'HandlerTimeout']);
    const { messages: letters } = await producer.deadLetters(queue).list();
    expect(letters).toMatchObject([{ id: 'hangs', failedAttempts: 2, error: { name: 'HandlerTimeout' } }]);
  });

  test('keep their messages for longer than a lease', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    let aborted: boolean | undefined;
    const handler = () =>
      handlerOf(
        queue,
        async (payload, message) => {
          handled.record(payload, message);
          await sleep(2500);
          aborted = message.signal.aborted;
        },
        { lease: '1s' },
      );
    const { producer } = await scene.startApp({ providers: [handler()] });
    // A second process that would take over if the lease expired.
    await scene.startApp({ providers: [handler()] });
    await producer.offer(queue, null, 0, { id: 'long' });
    await until(async () => handled.calls.length > 0 && (await producer.find(queue, 'long')) === null);
    expect(handled.calls).toHaveLength(1);
    expect(aborted).toBe(false);
  });
});
