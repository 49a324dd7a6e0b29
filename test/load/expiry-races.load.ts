import { describe, expect, test } from '@jest/globals';
import type { DelayedMessage, DelayQueueEvent } from '../../lib/index.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const RACES = 10_000;
const RACES_AT_ONCE = 200;

describe('the expiry of a message and its claim', () => {
  const scene = new Scene({});

  test("have exactly one winner, and no handler is called after the expiry by Redis' clock", async () => {
    const queue = scene.newQueue();
    const handled = new Map<string, number>();
    const expired = new Set<string>();
    const observer = {
      event: (event: DelayQueueEvent) => {
        if (event.name === 'expired') expired.add(event.id);
      },
    };
    const late: number[] = [];
    const handle = (_payload: unknown, { id, lateness, dueAt, expiresAt }: DelayedMessage) => {
      late.push(dueAt.getTime() + lateness - expiresAt!.getTime());
      handled.set(id, (handled.get(id) ?? 0) + 1);
    };
    const provider = handlerOf(queue, handle, { concurrency: 100 });
    for (let i = 0; i < 2; i++) await scene.startApp({ module: { observers: [observer] }, providers: [provider] });
    const { producer } = await scene.startApp({ module: { consume: false } });
    for (let first = 0; first < RACES; first += RACES_AT_ONCE) {
      const ids = Array.from({ length: RACES_AT_ONCE }, (_, i) => `m${first + i}`);
      await producer.offerMany(
        queue,
        ids.map((id, i) => ({ payload: i, id, delay: i % 40, expiresAfter: i % 4 })),
      );
      await until(() => ids.every((id) => handled.has(id) || expired.has(id)));
    }
    await until(async () => Object.values(await producer.counts(queue)).every((count) => count === 0));
    console.log(`${expired.size} of ${RACES} messages expired`);
    expect([...handled].filter(([id, times]) => times > 1 || expired.has(id))).toEqual([]);
    expect(handled.size + expired.size).toBe(RACES);
    // The start of the handler is read from the clock a moment after the decision.
    expect(Math.max(...late)).toBeLessThan(1);
    expect(expired.size).toBeGreaterThan(RACES / 50);
    expect(handled.size).toBeGreaterThan(RACES / 50);
  });
});
