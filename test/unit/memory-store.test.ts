import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Offer } from '../../lib/store/producer-store.js';
import { MemoryMessageStore } from '../../lib/store/memory/memory-store.js';
import { ManualClock } from '../support/manual-clock.js';

const limits = { attempts: 3, maxDeadLetters: 1000, maxMessages: null };
const offer = (id: string, after: number): Offer => ({ id, due: { after }, onDuplicate: 'reject', body: 'J1' });

/** The behaviour of this store alone; the contract tests cover what all stores share. */
describe('MemoryMessageStore', () => {
  let clock: ManualClock;
  let store: MemoryMessageStore;

  beforeEach(() => {
    clock = new ManualClock();
    store = new MemoryMessageStore({ limits, clock });
  });

  it.each([3_600_000, -3_600_000])('keeps delays and leases when the wall clock jumps by %d ms', async (step) => {
    await store.offer([offer('a', 1000)]);
    clock.stepWall(step);
    await clock.advance(999);
    expect(await store.transfer({ limit: 1 })).toMatchObject({ moved: 0, nextIn: 1 });
    await clock.advance(1);
    expect(await store.transfer({ limit: 1 })).toMatchObject({ moved: 1 });

    await store.claim({ token: 't', limit: 1, lease: 1000 });
    clock.stepWall(step);
    await clock.advance(999);
    expect(await store.transfer({ limit: 1 })).toMatchObject({ recovered: 0 });
    await clock.advance(1);
    expect(await store.transfer({ limit: 1 })).toMatchObject({ recovered: 1 });
  });

  it('never transfers a message early, even by a fraction of a millisecond', async () => {
    await clock.advance(0.6);
    const [receipt] = await store.offer([offer('a', 10)]);
    expect(Number.isInteger(receipt?.dueAt)).toBe(true);
    await clock.advance(9.9);
    expect(await store.transfer({ limit: 1 })).toMatchObject({ moved: 0 });
    await clock.advance(0.5);
    expect(await store.transfer({ limit: 1 })).toMatchObject({ moved: 1 });
  });

  it('wakes the consumer that has waited longest, and leaves no timer behind', async () => {
    const [first, second] = [store.openWakeSignal(), store.openWakeSignal()];
    const waits = [first.wait(1000), second.wait(2000)];
    await store.offer([offer('a', 0)]);
    await clock.advance(1);
    await store.transfer({ limit: 1 });
    expect(await waits[0]).toBe(true);
    expect(clock.pendingTimers).toBe(1);
    await second.close();
    expect(await waits[1]).toBe(false);
    expect(clock.pendingTimers).toBe(0);
    expect(await second.wait(1000)).toBe(false);
  });

  it('does not call listeners synchronously within the call that causes the announcement', () => {
    const announced: string[] = [];
    store.watchDue({ onListening: () => announced.push('listening'), onEarlierDue: () => announced.push('earlier') });
    void store.offer([offer('a', 10)]);
    expect(announced).toEqual([]);
  });

  it('does not call a listener that stopped before the announcement', async () => {
    const announced: string[] = [];
    const stop = store.watchDue({
      onListening: () => announced.push('listening'),
      onEarlierDue: () => announced.push('earlier'),
    });
    void store.offer([offer('a', 10)]);
    stop();
    await clock.advance(0);
    expect(announced).toEqual([]);
  });

  it('accepts and transfers a hundred thousand messages, offered latest first, within seconds', async () => {
    const count = 100_000;
    // In CPU time, because other tests run at the same time.
    const before = process.cpuUsage();
    for (let start = 0; start < count; start += 1000) {
      await store.offer(Array.from({ length: 1000 }, (_, index) => offer(`${start + index}`, count - start - index)));
    }
    await clock.advance(count);
    let moved = 0;
    for (let more = true; more;) {
      const report = await store.transfer({ limit: 1000 });
      moved += report.moved;
      more = report.more;
    }
    expect(moved).toBe(count);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000_000).toBeLessThan(5);
  });
});
