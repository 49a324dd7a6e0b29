import { describe, expect, it } from '@jest/globals';
import type { Visit } from '../../lib/consumer/partition-worker.js';
import { FailureStreak, workFailures } from '../../lib/events/failure-streak.js';
import { type MemberWorker, Semaphore } from '../../lib/families/family-member.js';
import { Family, type QueueRemains } from '../../lib/families/family.js';
import { DueAnnouncer } from '../../lib/store/memory/memory-signals.js';
import type { Claim } from '../../lib/store/consumer-store.js';
import { MemoryQueueDirectory } from '../../lib/store/memory/memory-stores.js';
import { REGISTRATION_VALID } from '../../lib/store/queue-directory.js';
import { Latch } from '../support/latch.js';
import { LoggedEvents } from '../support/logged-events.js';
import { ManualClock } from '../support/manual-clock.js';

const CHECK_INTERVAL = 60_000;

/** The work that a look finds in a queue. */
interface Prospect {
  readonly ready: number;
  readonly nextIn: number | null;
}

const EMPTY: Prospect = { ready: 0, nextIn: null };

/** A worker that does nothing by itself. */
class Worker implements MemberWorker {
  constructor(readonly visit: () => Promise<Visit>) {}

  held = 0;
  isQuiet = false;
  started = 0;
  stopped = 0;
  abandoned = 0;
  readonly aborted: string[] = [];
  /** Opens when everything is settled. */
  readonly settled = new Latch();

  start = () => void this.started++;
  readonly usage = { slots: 1, used: 0, longest: undefined };
  stopClaiming = () => Promise.resolve(void this.stopped++);
  drained = () => this.settled.opened;
  abort = ({ id }: Claim) => void this.aborted.push(id);
  abortHandlers = () => undefined;
  abandon = () => void this.abandoned++;
}

/** A family with its clock, its directory and the contents of its queues. */
class FamilyUnderTest {
  readonly clock = new ManualClock();
  readonly directory = new MemoryQueueDirectory();
  readonly events = new LoggedEvents();
  /** What the next looks find; nothing by default. */
  readonly prospects = new Map<string, Prospect>();
  /** The queues that were looked at, in order. */
  readonly looks: string[] = [];
  /** The queues whose workers have stopped, in order. */
  readonly closed: string[] = [];
  /** The workers of all looks, in order. */
  readonly opened: Worker[] = [];
  /** The latest worker of each queue that has found something. */
  readonly workers = new Map<string, Worker>();
  /** The queues that hold messages which no look finds. */
  readonly remains = new Map<string, QueueRemains>();
  failure: Error | undefined;
  /** How long a look takes, ms. */
  lookTime = 0;
  /** True if a visit leaves messages, so that the worker stays. */
  isMore = true;
  readonly family: Family;

  constructor() {
    const { clock, directory, events } = this;
    this.family = new Family({
      name: 't-*',
      has: (queue) => queue !== 't-own',
      directory,
      clock,
      streak: new FailureStreak(clock, workFailures(events, 'find-queues', 't-*')),
      checkInterval: CHECK_INTERVAL,
      remainsOf: (queue) => Promise.resolve(this.remains.get(queue) ?? 'nothing'),
      source: { open: (queue) => this.#open(queue), closed: (queue) => void this.closed.push(queue) },
    });
  }

  /** Starts it, and lets it read the directory for the first time. */
  async start(): Promise<void> {
    this.family.start();
    await this.clock.advance(0);
  }

  /** Makes a look find a ready message in a queue, which a worker visits until its messages are settled. */
  async beginVisit(): Promise<Worker> {
    this.isMore = false;
    if (this.looks.length === 0) await this.start();
    this.prospects.set('t-1', ready(1));
    this.directory.announce('t-1', 0);
    await this.clock.advance(1);
    return this.workers.get('t-1')!;
  }

  #open(queue: string): Worker {
    const worker = new Worker(() => this.#look(queue));
    if (this.isMore) worker.settled.open();
    this.opened.push(worker);
    return worker;
  }

  async #look(queue: string): Promise<Visit> {
    const worker = this.opened.at(-1)!;
    this.looks.push(queue);
    if (this.lookTime > 0) await new Promise<void>((resolve) => this.clock.schedule(resolve, this.lookTime));
    if (this.failure) throw this.failure;
    const { ready, nextIn } = this.prospects.get(queue) ?? EMPTY;
    if (ready === 0) return { hasFound: false, isMore: false, nextIn };
    this.workers.set(queue, worker);
    return { hasFound: true, isMore: this.isMore, nextIn };
  }
}

const ready = (count: number): Prospect => ({ ready: count, nextIn: null });
const due = (nextIn: number): Prospect => ({ ready: 0, nextIn });

describe('a family of queues', () => {
  it('starts a worker only for queues with ready messages', async () => {
    const { directory, prospects, workers, looks, ...test } = new FamilyUnderTest();
    for (const queue of ['t-1', 't-2', 't-3', 't-own', 'x-1']) await directory.register(queue);
    prospects.set('t-1', ready(1)).set('t-2', due(600_000));
    test.family.start();
    await test.clock.advance(0);
    expect(looks.sort()).toEqual(['t-1', 't-2', 't-3']);
    expect([...workers.keys()]).toEqual(['t-1']);
    expect(workers.get('t-1')!.started).toBe(1);
  });

  it('checks a queue when an announced message is due, and not before', async () => {
    const test = new FamilyUnderTest();
    await test.start();
    test.directory.announce('t-1', 10_000);
    test.directory.announce('t-1', 20_000);
    test.directory.announce('t-1', 5000);
    test.directory.announce('t-own', 0);
    await test.clock.advance(4999);
    expect(test.looks).toEqual([]);
    test.prospects.set('t-1', ready(1));
    await test.clock.advance(1);
    expect(test.looks).toEqual(['t-1']);
    expect(test.workers.get('t-1')?.started).toBe(1);
  });

  it('reacts to announcements that arrive during a lookup, whatever the lookup finds', async () => {
    const test = new FamilyUnderTest();
    test.lookTime = 100;
    await test.start();
    test.directory.announce('t-1', 0);
    await test.clock.advance(50);
    test.directory.announce('t-1', 1000);
    await test.clock.advance(60);
    expect(test.looks).toHaveLength(1);
    await test.clock.advance(941);
    expect(test.looks).toHaveLength(2);
  });

  it('stops a worker that stays idle, and then goes back to lookups', async () => {
    const test = new FamilyUnderTest();
    await test.start();
    test.prospects.set('t-1', ready(1));
    test.directory.announce('t-1', 0);
    await test.clock.advance(1);
    const worker = test.workers.get('t-1')!;
    await test.clock.advance(30_000);
    expect(worker.stopped).toBe(0);
    worker.isQuiet = true;
    await test.clock.advance(6000);
    worker.isQuiet = false;
    await test.clock.advance(5000);
    worker.isQuiet = true;
    test.prospects.set('t-1', due(8_000_000));
    expect(worker.stopped).toBe(0);
    await test.clock.advance(16_000);
    expect(worker.stopped).toBe(1);
    const looked = test.looks.length;
    expect(looked).toBeGreaterThan(1);
    test.prospects.set('t-1', ready(2));
    test.directory.announce('t-1', 0);
    await test.clock.advance(1);
    expect(test.workers.get('t-1')).not.toBe(worker);
  });

  it('forgets an empty queue, and retires it once nobody can rely on its registration', async () => {
    const test = new FamilyUnderTest();
    await test.directory.register('t-1');
    await test.start();
    const registered = async () => (await test.directory.listRegistered('t-*')).registrations.length;
    await test.clock.advance(REGISTRATION_VALID - CHECK_INTERVAL / 4);
    expect(await registered()).toBe(1);
    await test.clock.advance(2 * CHECK_INTERVAL);
    expect(await registered()).toBe(0);
    expect(await test.directory.list({ after: '', limit: 10 })).toEqual([]);
    const looked = test.looks.length;
    await test.clock.advance(10 * CHECK_INTERVAL);
    expect(test.looks).toHaveLength(looked);
  });

  it('never retires a queue that has been registered again or is not empty', async () => {
    const test = new FamilyUnderTest();
    await test.directory.register('t-1');
    await test.directory.register('t-2');
    test.prospects.set('t-2', due(1e9));
    await test.start();
    for (let i = 0; i < 20; i++) {
      await test.clock.advance(REGISTRATION_VALID - 10_000);
      await test.directory.register('t-1');
    }
    const { registrations } = await test.directory.listRegistered('t-*');
    expect(registrations.map(({ queue }) => queue).sort()).toEqual(['t-1', 't-2']);
  });

  it('keeps the name of a retired queue that still holds data other than messages', async () => {
    const test = new FamilyUnderTest();
    await test.directory.register('t-1');
    test.remains.set('t-1', 'else');
    await test.start();
    await test.clock.advance(REGISTRATION_VALID + 2 * CHECK_INTERVAL);
    expect((await test.directory.listRegistered('t-*')).registrations).toEqual([]);
    expect(await test.directory.list({ after: '', limit: 10 })).toEqual(['t-1']);
  });

  it('does not retire a queue while it has messages that its lookups cannot find', async () => {
    const test = new FamilyUnderTest();
    await test.directory.register('t-1');
    test.remains.set('t-1', 'messages');
    await test.start();
    const registered = async () => (await test.directory.listRegistered('t-*')).registrations.length;
    await test.clock.advance(3 * REGISTRATION_VALID);
    expect(await registered()).toBe(1);
    test.remains.delete('t-1');
    await test.clock.advance(CHECK_INTERVAL);
    expect(await registered()).toBe(0);
  });

  it('finds a queue within the check interval even if its announcement is lost', async () => {
    const test = new FamilyUnderTest();
    await test.start();
    await test.directory.register('t-1');
    test.prospects.set('t-1', ready(1));
    await test.clock.advance(CHECK_INTERVAL);
    expect(test.workers.get('t-1')?.started).toBe(1);
  });

  it('registers a queue again if it has messages but is missing from the directory', async () => {
    const test = new FamilyUnderTest();
    await test.start();
    test.prospects.set('t-1', due(1e9));
    test.directory.announce('t-1', 0);
    await test.clock.advance(CHECK_INTERVAL);
    expect((await test.directory.listRegistered('t-*')).registrations).toMatchObject([{ queue: 't-1' }]);
  });

  it('retries a failed lookup with increasing delays', async () => {
    const test = new FamilyUnderTest();
    await test.start();
    test.failure = new Error('no');
    test.directory.announce('t-1', 0);
    await test.clock.advance(30_000);
    expect(test.looks.length).toBeGreaterThan(5);
    expect(test.looks.length).toBeLessThan(20);
    expect(test.events.lines).toEqual([
      'error t-*: its queues cannot be looked up, so messages may be late: Error: no; retrying until it works',
    ]);
    test.failure = undefined;
    test.prospects.set('t-1', ready(1));
    await test.clock.advance(5000);
    expect(test.workers.get('t-1')?.started).toBe(1);
    expect(test.events.lines.at(-1)).toBe('log t-*: its queues are looked up again');
  });

  it('looks up at most 64 queues at a time', async () => {
    const test = new FamilyUnderTest();
    test.lookTime = 10;
    for (let i = 0; i < 300; i++) await test.directory.register(`t-${i}`);
    await test.start();
    expect(test.looks).toHaveLength(64);
    await test.clock.advance(10);
    expect(test.looks).toHaveLength(128);
    await test.clock.advance(100);
    expect(new Set(test.looks).size).toBe(300);
  });

  it('only visits a queue whose messages are soon settled, then checks it again and abandons the worker', async () => {
    const test = new FamilyUnderTest();
    const worker = await test.beginVisit();
    test.prospects.delete('t-1');
    worker.settled.open();
    await test.clock.advance(0);
    expect(worker).toMatchObject({ started: 0, abandoned: 1 });
    expect(test.looks).toEqual(['t-1', 't-1']);
    await test.clock.advance(10_000);
    expect([test.family.held, test.clock.pendingTimers]).toEqual([0, 1]);
  });

  it('makes a new visit for each occasional message', async () => {
    const test = new FamilyUnderTest();
    for (let round = 0; round < 3; round++) {
      const worker = await test.beginVisit();
      test.prospects.delete('t-1');
      worker.settled.open();
      await test.clock.advance(10_001);
      expect(worker).toMatchObject({ started: 0 });
    }
  });

  it('starts the worker if more messages arrive soon after a visit', async () => {
    const test = new FamilyUnderTest();
    const worker = await test.beginVisit();
    test.prospects.delete('t-1');
    worker.settled.open();
    await test.clock.advance(9000);
    const next = await test.beginVisit();
    expect(next).toMatchObject({ started: 1 });
  });

  it('starts the worker if a visit leaves messages that it cannot claim, such as those of a paused queue', async () => {
    const test = new FamilyUnderTest();
    const worker = await test.beginVisit();
    worker.settled.open();
    await test.clock.advance(0);
    expect([worker.abandoned, test.workers.get('t-1')!.started]).toEqual([1, 1]);
  });

  it('starts the worker when a message falls due during a visit, and not before', async () => {
    const test = new FamilyUnderTest();
    const worker = await test.beginVisit();
    test.directory.announce('t-1', 400);
    await test.clock.advance(399);
    expect(worker.started).toBe(0);
    await test.clock.advance(1);
    expect(worker.started).toBe(1);
    worker.settled.open();
    await test.clock.advance(0);
    expect([worker.abandoned, test.looks.length]).toEqual([0, 1]);
  });

  it('starts the worker if a visit takes longer than five seconds', async () => {
    const test = new FamilyUnderTest();
    const worker = await test.beginVisit();
    await test.clock.advance(4998);
    expect(worker.started).toBe(0);
    await test.clock.advance(1);
    expect(worker.started).toBe(1);
  });

  it('does not start a worker after a visit that was in progress when the family stopped', async () => {
    const test = new FamilyUnderTest();
    const worker = await test.beginVisit();
    test.directory.announce('t-1', 100);
    await test.family.stopClaiming();
    expect(worker.stopped).toBe(1);
    worker.settled.open();
    await test.family.drained();
    await test.clock.advance(CHECK_INTERVAL);
    expect([worker.started, test.looks.length, test.clock.pendingTimers]).toEqual([0, 1, 0]);
  });

  it('passes an abort to a worker, even while its queue is being looked up', async () => {
    const test = new FamilyUnderTest();
    const aborts = new DueAnnouncer();
    test.directory.follow('t-1', { watchDue: (listener) => aborts.watch(listener) });
    const abort = (id: string) => (aborts.announceAbort({ id, token: 'token' }), test.clock.advance(0));
    test.lookTime = 100;
    await test.start();
    test.prospects.set('t-1', ready(1));
    test.directory.announce('t-1', 0);
    await test.clock.advance(50);
    await abort('a');
    expect(test.workers.size).toBe(0);
    await test.clock.advance(100);
    await abort('b');
    expect(test.workers.get('t-1')?.aborted).toEqual(['a', 'b']);
  });

  it('abandons a worker that finds nothing or fails', async () => {
    const test = new FamilyUnderTest();
    await test.start();
    test.directory.announce('t-1', 0);
    await test.clock.advance(1);
    test.failure = new Error('no');
    test.directory.announce('t-2', 0);
    await test.clock.advance(1);
    expect(test.opened.map(({ abandoned }) => abandoned)).toEqual([1, 1]);
    expect(test.closed).toEqual(['t-1', 't-2']);
  });

  it('leaves no timers behind and does no lookups once it is stopped', async () => {
    const test = new FamilyUnderTest();
    for (let i = 0; i < 50; i++) await test.directory.register(`t-${i}`);
    test.prospects.set('t-1', ready(1)).set('t-2', due(60_000));
    test.lookTime = 10;
    await test.start();
    const stopped = test.family.stopClaiming();
    await test.clock.advance(10);
    await stopped;
    const looked = test.looks.length;
    expect(test.clock.pendingTimers).toBe(0);
    test.directory.announce('t-3', 0);
    await test.clock.advance(10 * CHECK_INTERVAL);
    expect(test.looks).toHaveLength(looked);
    expect(test.clock.pendingTimers).toBe(0);
  });
});

describe('Semaphore', () => {
  it('runs the next task after one has failed', async () => {
    const semaphore = new Semaphore(1);
    const failed = semaphore.run(() => Promise.reject(new Error('no')));
    const next = semaphore.run(() => Promise.resolve('done'));
    await expect(failed).rejects.toThrow('no');
    await expect(next).resolves.toBe('done');
  });
});
