import { describe, expect, test } from '@jest/globals';
import type { QueueOptions } from '../../lib/index.js';
import { block } from '../support/block.js';
import { Handled } from '../support/handled.js';
import { isEmpty } from '../support/is-empty.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

describe('handlers that together block the event loop for longer than a lease', () => {
  const scene = new Scene();

  test.each([
    { messages: 1000, ms: 75, lease: '30s', concurrency: 1000 },
    { messages: 60, ms: 250, lease: '3s', concurrency: 16 },
  ] satisfies ({ messages: number; ms: number } & QueueOptions)[])(
    'handle $messages messages of $ms ms once each, at the first attempt, under a lease of $lease',
    async ({ messages, ms, ...options }) => {
      const queue = scene.newQueue();
      const handled = new Handled();
      const handler = handlerOf(
        queue,
        (payload, message) => {
          handled.record(payload, message);
          block(ms);
        },
        options,
      );
      const { producer } = await scene.startApp({ providers: [handler] });
      await producer.offerMany(
        queue,
        Array.from({ length: messages }, (_, i) => ({ payload: i, delay: 0, id: `m${i}` })),
      );
      await until(() => handled.calls.length >= messages, { within: messages * ms * 1.5 + 10_000, every: 1000 });
      await until(() => isEmpty(producer, queue), { within: 60_000 });
      expect(handled.calls.map(({ id, attempt }) => `${id} ${attempt}`).sort()).toEqual(
        Array.from({ length: messages }, (_, i) => `m${i} 1`).sort(),
      );
    },
  );
});
