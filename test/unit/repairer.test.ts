import { describe, expect, it } from '@jest/globals';
import type { RepairReport } from '../../lib/store/admin-store.js';
import { Repairer } from '../../lib/consumer/repairer.js';
import { ManualClock } from '../support/manual-clock.js';
import { LoggedEvents } from '../support/logged-events.js';

const MINUTE = 60_000;

/** A queue that answers with these reports in turn, and then that nothing is wrong. */
class DamagedQueue {
  readonly cursors: (string | undefined)[] = [];

  constructor(private readonly reports: (RepairReport | Error)[] = []) {}

  repair(_lease: number, cursor?: string): Promise<RepairReport> {
    this.cursors.push(cursor);
    const report = this.reports.shift() ?? { ready: [], delayed: [], cursor: null };
    return report instanceof Error ? Promise.reject(report) : Promise.resolve(report);
  }
}

describe('Repairer', () => {
  const clock = new ManualClock();
  const open = (reports?: (RepairReport | Error)[]) => {
    const store = new DamagedQueue(reports);
    const events = new LoggedEvents();
    return {
      store,
      events,
      repairer: new Repairer({ queue: 'orders', store, clock, events, lease: 30_000, random: () => 0.5 }),
    };
  };

  it('checks the queue at startup and every five minutes', async () => {
    const { store, repairer } = open();
    repairer.start();
    await clock.advance(0);
    expect(store.cursors).toHaveLength(1);
    await clock.advance(5 * MINUTE - 1);
    expect(store.cursors).toHaveLength(1);
    await clock.advance(1);
    expect(store.cursors).toHaveLength(2);
    await repairer.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('calls onChecked after each check of the queue, whether it succeeded or not', async () => {
    let looks = 0;
    const store = new DamagedQueue([new Error('no connection')]);
    const parts = { queue: 'orders', clock, events: new LoggedEvents(), lease: 30_000, random: () => 0.5 };
    const repairer = new Repairer({ ...parts, store, onChecked: () => looks++ });
    repairer.start();
    await clock.advance(0);
    expect(looks).toBe(1);
    await clock.advance(5 * MINUTE);
    expect(looks).toBe(2);
    await repairer.stop();
    await clock.advance(10 * MINUTE);
    expect(looks).toBe(2);
  });

  it('goes through the whole queue and reports its findings once', async () => {
    const ids = (first: number) => Array.from({ length: 4 }, (_, n) => `m${first + n}`);
    const { store, events, repairer } = open([
      { ready: ids(1), delayed: ['later 1'], cursor: '7' },
      { ready: [], delayed: [], cursor: '8' },
      { ready: ids(5), delayed: ['later 2'], cursor: null },
    ]);
    expect(await repairer.runOnce()).toBe(10);
    expect(store.cursors).toEqual([undefined, '7', '8']);
    expect(events.lines).toEqual([
      'error orders: 10 messages were orphaned (neither delayed, ready, active nor dead); 8 are ready now and 2 delayed ' +
        '(m1, m2, m3, m4, m5, …): were keys of the queue deleted or changed?',
    ]);
  });

  it('logs a failed check and tries again at the next interval', async () => {
    const { store, events, repairer } = open([new Error('no connection')]);
    repairer.start();
    await clock.advance(5 * MINUTE);
    expect(events.lines).toEqual([
      'warn orders: checking for lost messages failed: Error: no connection; retrying until it works',
      'log orders: checking for lost messages works again after 5 minutes',
    ]);
    expect(store.cursors).toHaveLength(2);
    await repairer.stop();
  });
});
