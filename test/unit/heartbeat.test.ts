import { beforeEach, describe, expect, it } from '@jest/globals';
import type { SlotUsage } from '../../lib/consumer/activity.js';
import { Heartbeat } from '../../lib/heartbeat/heartbeat.js';
import { listWorkers } from '../../lib/heartbeat/list-workers.js';
import { DelayQueueError } from '../../lib/message/delay-queue-errors.js';
import { MemoryWorkerRegistry } from '../../lib/store/memory/memory-worker-registry.js';
import { LoggedEvents } from '../support/logged-events.js';
import { ManualClock } from '../support/manual-clock.js';

const IDLE = { slots: 16, used: 0, longest: undefined };

/** A registry that may refuse, or not answer. */
class Registry extends MemoryWorkerRegistry {
  readonly calls: string[] = [];
  failure: Error | undefined;
  answer: Promise<void> | undefined;

  override async report(id: string, report: string): Promise<void> {
    this.calls.push('report');
    if (this.failure) throw this.failure;
    await super.report(id, report);
    await this.answer;
  }

  override async remove(id: string): Promise<void> {
    this.calls.push('remove');
    if (this.failure) throw this.failure;
    await super.remove(id);
  }
}

describe('the heartbeat', () => {
  let clock: ManualClock;
  let registry: Registry;
  let events: LoggedEvents;
  let isConnected: boolean;
  let heartbeat: Heartbeat;

  beforeEach(() => {
    clock = new ManualClock();
    registry = new Registry(clock);
    events = new LoggedEvents();
    isConnected = true;
    heartbeat = new Heartbeat({ id: 'process', registry, isConnected: () => isConnected, clock, events });
  });

  const listed = async () => (await listWorkers(registry, undefined)).workers;

  it('reports at once, and then every ten seconds', async () => {
    heartbeat.start(new Map([['orders', { usage: IDLE }]]));
    await clock.advance(0);
    expect(registry.calls).toHaveLength(1);
    await clock.advance(9999);
    expect(registry.calls).toHaveLength(1);
    await clock.advance(1);
    expect(registry.calls).toHaveLength(2);
    await clock.advance(60_000);
    expect(registry.calls).toHaveLength(8);
  });

  it('sends its first report within half a second of the connection', async () => {
    isConnected = false;
    heartbeat.start(new Map([['orders', { usage: IDLE }]]));
    await clock.advance(3000);
    expect(registry.calls).toHaveLength(0);
    isConnected = true;
    await clock.advance(500);
    expect(registry.calls).toHaveLength(1);
    await clock.advance(9999);
    expect(registry.calls).toHaveLength(1);
  });

  it('lists a process that dies for at most 30 s', async () => {
    heartbeat.start(new Map([['orders', { usage: IDLE }]]));
    await clock.advance(25_000);
    // It reports no longer, as if it had been killed.
    registry.failure = new Error('killed');
    await clock.advance(24_999);
    expect(await listed()).toHaveLength(1);
    await clock.advance(1);
    expect(await listed()).toHaveLength(0);
  });

  it('removes its report when it stops, and sends no more', async () => {
    heartbeat.start(new Map([['orders', { usage: IDLE }]]));
    await clock.advance(0);
    heartbeat.stop();
    heartbeat.stop();
    await clock.advance(60_000);
    expect(registry.calls).toEqual(['report', 'remove']);
    expect(await listed()).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('removes its report after one that is still being sent', async () => {
    let answer = () => undefined as void;
    registry.answer = new Promise((resolve) => (answer = resolve));
    heartbeat.start(new Map([['orders', { usage: IDLE }]]));
    await clock.advance(0);
    heartbeat.stop();
    await clock.advance(0);
    expect(registry.calls).toEqual(['report']);
    answer();
    await clock.advance(0);
    expect(registry.calls).toEqual(['report', 'remove']);
  });

  it('removes nothing if it has never reported', async () => {
    isConnected = false;
    heartbeat.start(new Map([['orders', { usage: IDLE }]]));
    await clock.advance(10_000);
    isConnected = true;
    heartbeat.stop();
    await clock.advance(20_000);
    expect(registry.calls).toEqual([]);
  });

  it('removes nothing while there is no connection, which would hold the removal up', async () => {
    heartbeat.start(new Map([['orders', { usage: IDLE }]]));
    await clock.advance(0);
    isConnected = false;
    heartbeat.stop();
    await clock.advance(20_000);
    expect(registry.calls).toEqual(['report']);
  });

  it('sends no report that was being written when it stopped', async () => {
    heartbeat.start(new Map([['orders', { usage: IDLE }]]));
    heartbeat.stop();
    await clock.advance(20_000);
    expect(registry.calls).toEqual([]);
  });

  it('sends no report while a connection is lost', async () => {
    heartbeat.start(new Map([['orders', { usage: IDLE }]]));
    await clock.advance(0);
    isConnected = false;
    await clock.advance(60_000);
    expect(registry.calls).toEqual(['report']);
    isConnected = true;
    await clock.advance(10_000);
    expect(registry.calls).toEqual(['report', 'report']);
  });

  it('counts a minute from the first report on, however long it has waited for the connection', async () => {
    isConnected = false;
    heartbeat.start(new Map([['orders', { usage: IDLE }]]));
    heartbeat.activityOf('orders').handled();
    await clock.advance(20_000);
    isConnected = true;
    await clock.advance(500);
    expect((await listed())[0]!.queues[0]!.handled).toBe(1);
  });

  it('sends nothing while there is no connection or the last report is unanswered', async () => {
    isConnected = false;
    heartbeat.start(new Map([['orders', { usage: IDLE }]]));
    await clock.advance(25_000);
    expect(registry.calls).toEqual([]);
    isConnected = true;
    let answer = () => undefined as void;
    registry.answer = new Promise((resolve) => (answer = resolve));
    await clock.advance(40_000);
    expect(registry.calls).toEqual(['report']);
    answer();
    await clock.advance(10_000);
    expect(registry.calls).toEqual(['report', 'report']);
  });

  it('says once that it is refused, and goes on', async () => {
    registry.failure = new DelayQueueError('STORE_REFUSED', 'NOPERM');
    heartbeat.start(new Map([['orders', { usage: IDLE }]]));
    await clock.advance(10_000);
    expect(events.lines).toEqual([]);
    await clock.advance(120_000);
    expect(events.lines).toHaveLength(1);
    expect(events.lines[0]).toMatch(/heartbeat.*NOPERM/);
    registry.failure = undefined;
    await clock.advance(10_000);
    expect(await listed()).toHaveLength(1);
    registry.failure = new Error('removed neither');
    heartbeat.stop();
    await clock.advance(0);
  });

  it('says nothing about refusals as long as one report in three is accepted', async () => {
    heartbeat.start(new Map([['orders', { usage: IDLE }]]));
    for (let i = 0; i < 4; i++) {
      registry.failure = undefined;
      await clock.advance(10_000);
      registry.failure = new DelayQueueError('STORE_REFUSED', 'NOPERM');
      await clock.advance(20_000);
    }
    expect(events.lines).toEqual([]);
  });

  it('says nothing about an outage', async () => {
    registry.failure = new DelayQueueError('OUTCOME_UNKNOWN', 'no answer');
    heartbeat.start(new Map([['orders', { usage: IDLE }]]));
    await clock.advance(120_000);
    expect(events.lines).toEqual([]);
  });

  it('reports what the handlers do, the most used queues first', async () => {
    await clock.advance(5000);
    const longest = { id: 'm', type: 'created', startedAt: 2000 };
    const busy = { slots: 4, used: 2, longest };
    const names = Array.from({ length: 200 }, (_, i) => `queue-${String(i).padStart(3, '0')}`);
    const workers = new Map<string, { usage: SlotUsage }>(names.reverse().map((name) => [name, { usage: IDLE }]));
    workers.set('busy', { usage: busy });
    heartbeat.activityOf('queue-150').handled();
    heartbeat.activityOf('queue-150').handled();
    heartbeat.activityOf('queue-150').started(4);
    heartbeat.activityOf('busy').failed();
    heartbeat.start(workers);
    await clock.advance(0);
    const [worker] = await listed();
    const startedAt = new Date(clock.wall());
    expect(worker).toMatchObject({ pid: process.pid, startedAt, seenAt: startedAt });
    expect(worker!.queues).toHaveLength(100);
    const since = new Date(clock.wall() - 3000);
    expect(worker!.queues.slice(0, 3)).toEqual([
      { queue: 'busy', slots: 4, used: 2, longest: { id: 'm', type: 'created', since }, handled: 0, failed: 1 },
      { queue: 'queue-150', slots: 16, used: 0, handled: 2, failed: 0, lateness: { p50: 4, p99: 4 } },
      { queue: 'queue-000', slots: 16, used: 0, handled: 0, failed: 0 },
    ]);
    await clock.advance(59_999);
    expect((await listed())[0]!.queues[1]!.handled).toBe(2);
    await clock.advance(1);
    expect((await listed())[0]!.queues[1]!.handled).toBe(0);
    expect((await listed())[0]!.startedAt).toEqual(startedAt);
  });
});

describe('the list of workers', () => {
  const report = JSON.stringify({ host: 'a', pid: 1, version: '1', age: 1, queues: [] });

  it('comes page by page, without what something else has written', async () => {
    const registry = new MemoryWorkerRegistry(new ManualClock());
    for (const id of ['a', 'b', 'c', 'd', 'e']) await registry.report(id, id === 'b' ? '{' : report);
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await listWorkers(registry, { limit: 2, cursor });
      pages.push(page.workers.map(({ id }) => id));
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
    expect(pages).toEqual([['a'], ['c', 'd'], ['e']]);
  });

  it('is empty where nothing keeps it', async () => {
    expect(await listWorkers(undefined, undefined)).toEqual({ workers: [], cursor: null });
  });
});
