import { describe, expect, test } from '@jest/globals';
import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Patience, waitPatiently } from '../../lib/testing/patience.js';
import { until } from '../support/until.js';

/** Blocks the event loop, as a debugger at a breakpoint does. */
function holdUp(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('Patience', () => {
  test('ends when checks at short intervals add up to its length, and restarts when something happens', async () => {
    const patience = new Patience(30);
    expect(patience.look()).toBe(false);
    await sleep(12);
    expect(patience.look()).toBe(false);
    patience.restart();
    await sleep(12);
    expect(patience.look()).toBe(false);
    for (let looks = 0; looks < 3; looks++) {
      await sleep(12);
      patience.look();
    }
    expect(patience.look()).toBe(true);
  });

  test('does not count time during which the process itself was blocked', () => {
    const patience = new Patience(50);
    holdUp(200);
    expect(patience.look()).toBe(false);
  });

  test('waits for work that ends in time, even by failing, and leaves no timer behind', async () => {
    const late = () => new Error('late');
    const own = new AsyncLocalStorage<true>();
    const timers = new Set<number>();
    const hook = createHook({
      init: (id, type) => void (type === 'Timeout' && own.getStore() && timers.add(id)),
      destroy: (id) => void timers.delete(id),
    }).enable();
    await own.run(true, async () => {
      expect(await waitPatiently(sleep(5, 'done'), 1000, late)).toBe('done');
      await expect(waitPatiently(Promise.reject(new Error('failed')), 1000, late)).rejects.toThrow('failed');
      await expect(waitPatiently(new Promise(() => undefined), 20, late)).rejects.toThrow('late');
      expect(timers.size).toBeGreaterThan(0);
    });
    // Node reports the end of a timer in a later turn.
    await until(() => timers.size === 0, { within: 500 });
    hook.disable();
  });
});
