import { describe, expect, it } from '@jest/globals';
import { NativeLimits } from '../../lib/limits/native-limits.js';
import { DelayQueueError } from '../../lib/message/delay-queue-errors.js';
import { ScriptReply } from '../../lib/redis/script/script-call.js';
import { ManualClock } from '../support/manual-clock.js';

const FIVE = JSON.stringify({ globalConcurrency: 5, by: 'alice', at: 1 });

describe('the limits that were set in Redis', () => {
  function openUnstarted(stored = new Map<string, string>()) {
    const clock = new ManualClock();
    const sent: string[] = [];
    let error: Error | undefined;
    const send = (name: string) => {
      sent.push(name);
      if (error) return Promise.reject(error);
      return Promise.resolve(new ScriptReply([...stored].flat().map((text) => Buffer.from(text))));
    };
    const connections = { commands: { send }, clock, publish: () => Promise.resolve() };
    const limits = new NativeLimits(connections, 'delay-queue');
    return { limits, stored, sent, clock, fail: (reason?: Error) => (error = reason) };
  }

  function open(stored?: Map<string, string>) {
    const opened = openUnstarted(stored);
    opened.limits.start();
    return opened;
  }

  it('are not read again before the start, because a timer would keep alive a process that fails to start', async () => {
    const { limits, clock } = openUnstarted();
    await limits.known;
    expect(clock.pendingTimers).toBe(0);
    limits.start();
    expect(clock.pendingTimers).toBe(1);
    limits.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('are read once, by the first to ask', async () => {
    const { limits, sent } = open(new Map([['orders', FIVE]]));
    await Promise.all([limits.known, limits.known]);
    expect(limits.known).toBeUndefined();
    expect(limits.of('orders')).toEqual({ globalConcurrency: 5, by: 'alice', at: 1 });
    expect(limits.of('mails')).toBeUndefined();
    expect(sent.every((name) => name === 'HGETALL')).toBe(true);
    expect(sent.length).toBeLessThanOrEqual(2);
  });

  it('are read again after the shortest interval, and soon after a failure, for whoever watches a queue', async () => {
    const { limits, stored, clock, sent, fail } = open();
    limits.checkEvery(5000);
    limits.checkEvery(120_000);
    await limits.known;
    const changes: string[] = [];
    limits.watch('mails', () => changes.push('mails'));
    const unwatch = limits.watch('orders', () => changes.push('orders'));
    stored.set('orders', FIVE);
    fail(new DelayQueueError('NOT_CONNECTED', 'away'));
    await clock.advance(5000);
    expect(limits.of('orders')).toBeUndefined();
    fail(undefined);
    await clock.advance(1000);
    expect(limits.of('orders')).toMatchObject({ globalConcurrency: 5 });
    expect(changes).toEqual(['orders']);
    await clock.advance(10_000);
    expect(changes).toEqual(['orders']);
    expect(sent).toHaveLength(5);
    unwatch();
    stored.clear();
    await limits.refresh();
    expect(changes).toEqual(['orders']);
    limits.stop();
    await clock.advance(60_000);
    expect(sent).toHaveLength(6);
  });

  it('are read again once a minute, in case an announcement got lost', async () => {
    const { limits, stored, clock } = open();
    await limits.known;
    stored.set('orders', FIVE);
    await clock.advance(59_000);
    expect(limits.of('orders')).toBeUndefined();
    await clock.advance(1000);
    expect(limits.of('orders')).toMatchObject({ globalConcurrency: 5 });
    stored.clear();
    await clock.advance(60_000);
    expect(limits.of('orders')).toBeUndefined();
    limits.stop();
  });

  it('are read again after a read that was under way, because they may have changed since', async () => {
    const { limits, stored, sent } = open();
    const first = limits.refresh();
    stored.set('orders', FIVE);
    await Promise.all([first, limits.refresh(), limits.refresh()]);
    expect(sent).toHaveLength(2);
    expect(limits.of('orders')).toMatchObject({ globalConcurrency: 5 });
  });

  it('stay unknown while Redis does not answer, and count as none if it refuses to show them', async () => {
    const { limits, fail } = open();
    fail(new DelayQueueError('NOT_CONNECTED', 'away'));
    await expect(limits.known).rejects.toThrow('away');
    expect(limits.known).toBeDefined();
    await limits.known?.catch(() => undefined);
    fail(new DelayQueueError('STORE_REFUSED', 'NOPERM'));
    await limits.known;
    expect(limits.known).toBeUndefined();
  });
});
