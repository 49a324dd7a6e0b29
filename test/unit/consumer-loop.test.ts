import { beforeEach, describe, expect, it } from '@jest/globals';
import { of, throwError } from 'rxjs';
import { DelayQueueError } from '../../lib/message/delay-queue-errors.js';
import { ShuttingDown } from '../../lib/consumer/delivery.js';
import type { ConsumerLoop } from '../../lib/consumer/consumer-loop.js';
import type { QueueOptions } from '../../lib/options/queue-options.js';
import { Slots } from '../../lib/consumer/capacity.js';
import { DeferMessage, RejectMessage } from '../../lib/message/handler-results.js';
import type { DelayedMessage } from '../../lib/message/message.js';
import { MemoryMessageStore } from '../../lib/store/memory/memory-store.js';
import type { MessageBody } from '../../lib/message/codec/message-codec.js';
import type { MessageStore } from '../../lib/store/message-store.js';
import { Handled } from '../support/handled.js';
import { Latch } from '../support/latch.js';
import { ManualClock } from '../support/manual-clock.js';
import { LoggedEvents } from '../support/logged-events.js';
import { type Handler, startConsumer } from '../support/start-consumer.js';
import { until } from '../support/until.js';

describe('ConsumerLoop', () => {
  let clock: ManualClock;
  let store: MessageStore;
  let events: LoggedEvents;

  beforeEach(() => {
    clock = new ManualClock();
    store = new MemoryMessageStore({
      limits: { attempts: 3, maxDeadLetters: 10, maxMessages: null },
      clock,
    });
    events = new LoggedEvents();
  });

  const start = (call: Handler, options?: QueueOptions) => startConsumer({ store, clock, events }, call, options);
  const offer = (id: string, after = 0, body: MessageBody = 'J1') =>
    store.offer([{ id, due: { after }, onDuplicate: 'keep', body }]);
  const counts = async () => (await store.status()).counts;
  /** Outcomes are sent at the end of the turn that produced them. */
  const nextTurns = async () => {
    for (let turn = 0; turn < 5; turn++) await clock.advance(0);
  };
  const pending = () => new Promise<never>(() => undefined);

  it('handles a message once, when it is due', async () => {
    const handled: unknown[] = [];
    start((payload, { id, attempt, dueAt }) => handled.push([payload, id, attempt, dueAt.getTime() - clock.wall()]));
    await offer('a', 500, 'J{"orderId":7}');
    await clock.advance(499);
    expect(handled).toEqual([]);
    await clock.advance(60_000);
    expect(handled).toEqual([[{ orderId: 7 }, 'a', 1, 0]]);
    expect(await counts()).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
  });

  it('never runs more handlers at once than its concurrency', async () => {
    let running = 0;
    let most = 0;
    start(
      () => {
        most = Math.max(most, ++running);
        return clock.sleep(50).then(() => void running--);
      },
      { concurrency: 4 },
    );
    for (let i = 0; i < 30; i++) await offer(`m${i}`);
    await clock.advance(1000);
    expect(most).toBe(4);
    expect(await counts()).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
  });

  it('retries a failed message after its backoff, and dead-letters it after its last attempt', async () => {
    const attempts: [number, number][] = [];
    const begin = clock.monotonic();
    start((_payload, { attempt }) => {
      attempts.push([attempt, clock.monotonic() - begin]);
      throw new TypeError('no such table');
    });
    await offer('a');
    await clock.advance(60_000);
    expect(attempts.map(([attempt]) => attempt)).toEqual([1, 2, 3]);
    const gaps = attempts.slice(1).map(([, at], i) => at - (attempts[i]?.[1] ?? 0));
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(1000);
    const [letter] = (await store.list({ state: 'dead', limit: 10 })).messages;
    expect(JSON.parse(letter?.death?.error ?? '')).toMatchObject({ name: 'TypeError', message: 'no such table' });
    expect(letter?.failedAttempts).toBe(3);
  });

  it('dead-letters a rejected message at once', async () => {
    let calls = 0;
    start(() => {
      calls++;
      throw new RejectMessage('no such order');
    });
    await offer('a');
    await clock.advance(60_000);
    expect(calls).toBe(1);
    expect(await counts()).toMatchObject({ dead: 1 });
  });

  it('handles a deferred message again later without spending an attempt', async () => {
    const attempts: number[] = [];
    start((_payload, { attempt }) => {
      attempts.push(attempt);
      if (attempts.length < 5) throw new DeferMessage('10s');
    });
    await offer('a');
    await clock.advance(9999);
    expect(attempts).toEqual([1]);
    await clock.advance(60_000);
    expect(attempts).toEqual([1, 1, 1, 1, 1]);
  });

  it('treats an Observable as handled when it completes and as failed when it errors', async () => {
    const results = [of(1, 2), throwError(() => new Error('late')), of()];
    let calls = 0;
    start(() => results[calls++]);
    await offer('a');
    await offer('b');
    await clock.advance(10_000);
    expect(calls).toBe(3);
    expect(await counts()).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
  });

  it('survives anything a handler throws', async () => {
    const thrown = [undefined, 'text', Object.create(null), { message: 7 }];
    for (const i of thrown.keys()) await offer(`m${i}`, 0, `J${i}`);
    start((payload) => {
      throw thrown[payload as number];
    });
    await clock.advance(60_000);
    expect(await counts()).toMatchObject({ dead: thrown.length });
  });

  it('keeps the lease for as long as a handler runs', async () => {
    const finish = new Latch();
    let calls = 0;
    start(
      () => {
        calls++;
        return finish.opened;
      },
      { lease: '3s' },
    );
    await offer('a');
    await clock.advance(60_000);
    expect(calls).toBe(1);
    expect(await counts()).toMatchObject({ active: 1 });
    finish.open();
    await nextTurns();
    expect(await counts()).toMatchObject({ active: 0 });
  });

  it('keeps the lease through failed extensions', async () => {
    const extend = store.extend.bind(store);
    let failures = 0;
    store.extend = (claims, lease) => (failures++ < 4 ? Promise.reject(new Error('LOADING')) : extend(claims, lease));
    const attempts: number[] = [];
    start(
      (_payload, { attempt }) => {
        attempts.push(attempt);
        return pending();
      },
      { lease: '3s' },
    );
    await offer('a');
    await clock.advance(10_000);
    expect(failures).toBeGreaterThan(4);
    expect(attempts).toEqual([1]);
  });

  describe('when the first claim takes longer than the lease', () => {
    const attempts: number[] = [];
    const signals: AbortSignal[] = [];

    /** @param way - how long the request and its answer travel, ms */
    const startWithSlowClaim = async (way: { request: number; answer: number }) => {
      attempts.length = signals.length = 0;
      const claim = store.claim.bind(store);
      store.claim = async (request) => {
        store.claim = claim;
        await clock.sleep(way.request);
        const report = await claim(request);
        await clock.sleep(way.answer);
        return report;
      };
      const record: Handler = (_payload, { attempt, signal }) => {
        attempts.push(attempt);
        signals.push(signal);
        return pending();
      };
      await offer('a');
      await store.transfer({ limit: 1 });
      start(record, { lease: '3s' });
      await clock.advance(3500);
    };

    it('does not handle a message that another consumer has claimed in the meantime', async () => {
      await startWithSlowClaim({ request: 1, answer: 4000 });
      expect(await store.claim({ token: 'other', limit: 1, lease: 3_600_000 })).toMatchObject({
        messages: [{ id: 'a' }],
      });
      await clock.advance(20_000);
      expect(attempts).toEqual([]);
    });

    it('handles a message that it still holds, under a new lease', async () => {
      await startWithSlowClaim({ request: 4000, answer: 2500 });
      await clock.advance(3100);
      expect(attempts).toEqual([1]);
      expect((await store.find('a'))!.leasedUntil! - clock.wall()).toBeGreaterThan(2500);
      await clock.advance(20_000);
      expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    });
  });

  it('aborts the signal of a handler whose lease is lost, and ignores its outcome', async () => {
    let message: DelayedMessage | undefined;
    const finish = new Latch();
    start(
      (_payload, given) => {
        message ??= given;
        return finish.opened;
      },
      { lease: '3s' },
    );
    await offer('a');
    await clock.advance(100);
    await store.clear();
    await offer('a', 3_600_000);
    await clock.advance(1000);
    expect(message?.signal.aborted).toBe(true);
    expect(String(message?.signal.reason)).toContain('LeaseLost');
    finish.open();
    await nextTurns();
    expect(await counts()).toMatchObject({ delayed: 1 });
    expect(events.lines.join('\n')).toContain('the outcome does not count');
  });

  it('aborts a handler that exceeds its timeout, frees its slot and counts the attempt', async () => {
    const signals: AbortSignal[] = [];
    start(
      (_payload, { signal }) => {
        signals.push(signal);
        return pending();
      },
      { timeout: '2s', concurrency: 1 },
    );
    await offer('a');
    await clock.advance(60_000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
    expect(await counts()).toMatchObject({ active: 0, dead: 1 });
  });

  it('dead-letters a message whose body cannot be read, and handles the others', async () => {
    const handled = new Handled();
    start(handled.record);
    await offer('a', 0, 'J1');
    await offer('b', 0, 'J{"half":');
    await offer('c', 0, 'J1');
    await clock.advance(100);
    expect(handled.ids).toEqual(['a', 'c']);
    // Outcomes are sent at the end of the turn.
    await clock.advance(0);
    expect(await counts()).toMatchObject({ dead: 1, active: 0 });
  });

  it('keeps running after store errors', async () => {
    const claim = store.claim.bind(store);
    let failures = 0;
    store.claim = (request) => (failures++ < 3 ? Promise.reject(new Error('LOADING')) : claim(request));
    let handled = 0;
    start(() => handled++);
    await offer('a');
    await clock.advance(5000);
    expect(handled).toBe(1);
  });

  it('frees the slots of a claim that fails', async () => {
    const claim = store.claim.bind(store);
    const limits: number[] = [];
    store.claim = (request) => {
      limits.push(request.limit);
      return limits.length < 3 ? Promise.reject(new DelayQueueError('NOT_CONNECTED', 'gone')) : claim(request);
    };
    start(() => undefined, { concurrency: 4 });
    await clock.advance(1000);
    expect(limits).toEqual([4, 4, 4]);
  });

  it('handles the messages of a claim whose response was lost, without waiting for the lease to end', async () => {
    const claim = store.claim.bind(store);
    let lost = false;
    store.claim = async (request) => {
      const report = await claim(request);
      if (lost || report.messages.length === 0) return report;
      lost = true;
      throw new DelayQueueError('OUTCOME_UNKNOWN', 'the connection broke');
    };
    const attempts: number[] = [];
    start((_payload, { attempt }) => attempts.push(attempt));
    await offer('a');
    await clock.advance(1000);
    expect(lost).toBe(true);
    expect(attempts).toEqual([1]);
  });

  it('resends an outcome until the store has answered', async () => {
    const settle = store.settle.bind(store);
    let failures = 0;
    store.settle = (settlements) => (failures++ < 3 ? Promise.reject(new Error('READONLY')) : settle(settlements));
    let handled = 0;
    start(() => handled++);
    await offer('a');
    await clock.advance(60_000);
    expect(handled).toBe(1);
    expect(await counts()).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
  });

  it('settles the messages handled in one turn with one call', async () => {
    const batches: number[] = [];
    const settle = store.settle.bind(store);
    store.settle = (settlements) => {
      batches.push(settlements.length);
      return settle(settlements);
    };
    for (let i = 0; i < 10; i++) await offer(`m${i}`);
    start(() => undefined);
    await nextTurns();
    expect(batches).toEqual([10]);
  });

  it('claims messages for half of its slots before it starts the handlers for the other half', async () => {
    const events: string[] = [];
    const claim = store.claim.bind(store);
    store.claim = (request) => {
      events.push(`claim ${request.limit}`);
      return claim(request);
    };
    for (let i = 0; i < 200; i++) await offer(`m${i}`);
    start(() => void (events.at(-1) === 'handle' || events.push('handle')), { concurrency: 100 });
    await nextTurns();
    const first = events.indexOf('handle');
    expect(events.slice(first - 2, first + 3)).toEqual(['claim 50', 'claim 50', 'handle', 'claim 50', 'handle']);
    expect(await counts()).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
  });

  it('claims messages for all slots at once if there are few slots', async () => {
    const limits: number[] = [];
    const claim = store.claim.bind(store);
    store.claim = (request) => {
      limits.push(request.limit);
      return claim(request);
    };
    for (let i = 0; i < 60; i++) await offer(`m${i}`);
    start(() => undefined, { concurrency: 20 });
    await nextTurns();
    expect(new Set(limits.filter((limit) => limit > 0))).toEqual(new Set([20]));
  });

  it('stops claiming, lets its handlers finish and settles their outcomes', async () => {
    const handled: string[] = [];
    const loop = start((_payload, { id }) => clock.sleep(500).then(() => void handled.push(id)));
    await offer('a');
    await clock.advance(10);
    const stopped = loop.stopClaiming();
    await offer('b');
    await clock.advance(100);
    await stopped;
    const drained = loop.leases.drained();
    await clock.advance(500);
    await drained;
    expect(handled).toEqual(['a']);
    expect(await counts()).toEqual({ delayed: 0, ready: 1, active: 0, dead: 0 });
  });

  describe.each<[string, (block: () => void) => unknown]>([
    ['a handler', (block) => block()],
    ['an async handler', async (block) => Promise.resolve(block())],
  ])('after %s that blocked the event loop', (_kind, run) => {
    /** Returns the outcomes sent before the first timer fires after the handlers. */
    const watch = async (handlerTime: number, count: number) => {
      const events: string[] = [];
      const settle = store.settle.bind(store);
      store.settle = (settlements) => {
        events.push(...settlements.map(({ claim, outcome }) => `${outcome.kind} ${claim.id}`));
        return settle(settlements);
      };
      for (let i = 0; i < count; i++) await offer(`m${i}`);
      await store.transfer({ limit: 10 });
      const block = (id: string) => {
        clock.block(id === 'm1' ? handlerTime : 10);
        if (id !== 'm1') return;
        const end = performance.now() + 5;
        setTimeout(() => events.push('timer'), 1);
        while (performance.now() < end);
      };
      start((_payload, { id }) => run(() => block(id)), { lease: '3s' });
      await until(() => events.includes('timer'));
      return events.slice(0, events.indexOf('timer'));
    };

    it('sends the outcomes before any timer fires', async () => {
      expect(await watch(10, 2)).toEqual(['ack m0', 'ack m1']);
    });

    it('releases messages that have waited longer than their lease, before any timer fires', async () => {
      const sent = await watch(5000, 4);
      expect(sent.sort()).toEqual(['ack m0', 'ack m1', 'release m2', 'release m3']);
    });
  });

  it('releases claimed messages that have not started when it stops, without spending an attempt', async () => {
    const handled: string[] = [];
    const loop: ConsumerLoop = start((_payload, { id }) => {
      handled.push(id);
      clock.block(10);
      stopped ??= loop.stopClaiming();
      sentAtOnce = released.length;
    });
    const released: string[] = [];
    let sentAtOnce = 0;
    const settle = store.settle.bind(store);
    store.settle = (settlements) => {
      released.push(...settlements.filter(({ outcome }) => outcome.kind === 'release').map(({ claim }) => claim.id));
      return settle(settlements);
    };
    let stopped: Promise<void> | undefined;
    await store.offer(
      [0, 1, 2, 3, 4].map((i) => ({ id: `m${i}`, due: { after: 0 }, onDuplicate: 'keep', body: 'J1' })),
    );
    await clock.advance(100);
    await stopped;
    await loop.leases.drained();
    expect(handled).toEqual(['m0']);
    expect([sentAtOnce, released]).toEqual([4, ['m1', 'm2', 'm3', 'm4']]);
    expect(await counts()).toEqual({ delayed: 0, ready: 4, active: 0, dead: 0 });
    expect(await store.find('m1')).toMatchObject({ failedAttempts: 0 });
  });

  it('claims again at once after an unanswered transfer, even if it has just found nothing', async () => {
    const handled = new Handled();
    const loop = start(handled.record);
    await nextTurns();
    // Nothing is ready, so for a second, wake() has no effect.
    loop.wake();
    await nextTurns();
    await offer('a');
    const transferAndClaim = store.transferAndClaim!.bind(store);
    store.transferAndClaim = async (request) => {
      await transferAndClaim(request);
      throw new DelayQueueError('OUTCOME_UNKNOWN', 'the connection broke');
    };
    await expect(loop.transferAndClaim(undefined, 0)).rejects.toThrow('the connection broke');
    await nextTurns();
    expect(handled.ids).toEqual(['a']);
    await loop.stopClaiming();
  });

  it('says that a visit may leave messages if its claim fails', async () => {
    const loop = start(() => undefined);
    await nextTurns();
    expect(await loop.visit()).toBe(false);
    store.claim = () => Promise.reject(new DelayQueueError('NOT_CONNECTED', 'the connection broke'));
    expect(await loop.visit()).toBe(true);
  });

  it('claims again at once if limits change during a claim that finds nothing', async () => {
    const answer = new Latch();
    const claim = store.claim.bind(store);
    let claims = 0;
    store.claim = async (request) => {
      if (claims++ === 0) await answer.opened;
      return claim(request);
    };
    const loop = start(() => undefined);
    await nextTurns();
    loop.limitsChanged();
    answer.open();
    await nextTurns();
    expect(claims).toBe(2);
  });

  it('releases what an unanswered claim holds when it stops, without spending an attempt', async () => {
    const claim = store.claim.bind(store);
    store.claim = async (request) => {
      const report = await claim(request);
      if (request.limit > 0) throw new DelayQueueError('OUTCOME_UNKNOWN', 'the connection broke');
      return report;
    };
    await offer('a');
    await store.transfer({ limit: 1 });
    const loop = start(() => undefined);
    await clock.advance(10);
    expect(await store.find('a')).toMatchObject({ state: 'active' });
    await loop.stopClaiming();
    expect(await store.find('a')).toMatchObject({ state: 'ready', failedAttempts: 0 });
  });

  it('claims only one message at a time while handlers block the event loop', async () => {
    const events: string[] = [];
    const claim = store.claim.bind(store);
    store.claim = (request) => {
      if (request.limit > 0) events.push(`claim ${request.limit}`);
      return claim(request);
    };
    for (let i = 0; i < 6; i++) await offer(`m${i}`);
    await store.transfer({ limit: 10 });
    start(
      (_payload, { id }) => {
        events.push(id);
        clock.block(150);
      },
      { lease: '1s', concurrency: 4 },
    );
    // Time passes only in the handlers.
    for (let turn = 0; turn < 30; turn++) await clock.advance(0);
    const expected = ['claim 4', 'm0', 'm1', 'm2', 'claim 1', 'm3', 'claim 1', 'm4', 'claim 1', 'm5'];
    expect(events.slice(0, expected.length)).toEqual(expected);
    expect(await counts()).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
  });

  it('releases a message that a handler abandons because of the shutdown, without spending an attempt', async () => {
    const loop = start(
      (_payload, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        }),
    );
    await offer('a');
    await clock.advance(10);
    const stopped = loop.stopClaiming();
    loop.leases.abortAll(new ShuttingDown('The application is shutting down'));
    await clock.advance(10);
    await stopped;
    await loop.leases.drained();
    const found = await store.find('a');
    expect(found).toMatchObject({ failedAttempts: 0 });
    expect(['delayed', 'ready']).toContain(found?.state);
  });
});

describe('the ConsumerLoops of two partitions', () => {
  let clock: ManualClock;
  let partitions: MessageStore[];
  let running: Latch[];
  let limits: number[][];

  beforeEach(() => {
    clock = new ManualClock();
    const of = { attempts: 3, maxDeadLetters: 10, maxMessages: null };
    partitions = [0, 1].map(() => new MemoryMessageStore({ limits: of, clock }));
    running = [];
    limits = partitions.map(noteLimits);
  });

  function noteLimits(store: MessageStore): number[] {
    const noted: number[] = [];
    const claim = store.claim.bind(store);
    store.claim = (request) => {
      noted.push(request.limit);
      return claim(request);
    };
    return noted;
  }

  function start(concurrency: number): void {
    const slots = new Slots(concurrency, 2);
    // Loops of an earlier test may still be running.
    const own = running;
    const handle = () => {
      const latch = new Latch();
      own.push(latch);
      return latch.opened;
    };
    for (const store of partitions) {
      startConsumer({ store, clock, events: new LoggedEvents() }, handle, { concurrency }, slots);
    }
  }

  const offer = (partition: number, count: number) =>
    partitions[partition]!.offer(
      Array.from({ length: count }, (_, i) => ({ id: `m${i}`, due: { after: 0 }, onDuplicate: 'keep', body: 'J1' })),
    );
  const nextTurns = async () => {
    for (let turn = 0; turn < 9; turn++) await clock.advance(0);
  };
  const active = () => Promise.all(partitions.map(async (store) => (await store.status()).counts.active));

  it('share their slots, and neither takes more than half of the free ones at once', async () => {
    await Promise.all([offer(0, 50), offer(1, 50)]);
    start(8);
    await nextTurns();
    expect(running).toHaveLength(8);
    const [first, second] = await active();
    expect(first! + second!).toBe(8);
    expect(Math.min(first!, second!)).toBeGreaterThanOrEqual(2);
    expect(Math.max(...limits.flat())).toBeLessThanOrEqual(4);
  });

  it('share a single slot', async () => {
    await Promise.all([offer(0, 20), offer(1, 20)]);
    start(1);
    const turns = new Set<string>();
    for (let i = 0; i < 10; i++) {
      await nextTurns();
      expect(running.length).toBe(i + 1);
      turns.add(String(await active()));
      running[i]!.open();
    }
    expect(turns).toEqual(new Set(['1,0', '0,1']));
  });

  it('pass on a wake-up signal if one of them takes the last slot before the other can claim', async () => {
    start(1);
    await nextTurns();
    const answered = new Latch();
    const [store] = partitions;
    const claim = store!.claim.bind(store);
    store!.claim = async (request) => {
      const report = await claim(request);
      await answered.opened;
      return report;
    };
    await offer(0, 1);
    await clock.advance(1);
    await nextTurns();
    await offer(1, 1);
    await clock.advance(1);
    await nextTurns();
    expect(await active()).toEqual([1, 0]);
    expect(running).toHaveLength(0);
    const wakeSignal = partitions[1]!.openWakeSignal();
    let isWoken = false;
    void wakeSignal.wait(10_000).then((woken) => (isWoken = woken));
    answered.open();
    await nextTurns();
    expect(running).toHaveLength(1);
    expect(isWoken).toBe(true);
    await wakeSignal.close();
  });

  it('pass on a wake-up signal of one partition while the loop of the other has all slots', async () => {
    start(1);
    await nextTurns();
    await offer(0, 1);
    await clock.advance(1);
    await nextTurns();
    expect(await active()).toEqual([1, 0]);
    const wakeSignal = partitions[1]!.openWakeSignal();
    await offer(1, 1);
    const woken = wakeSignal.wait(10_000);
    await clock.advance(1);
    await nextTurns();
    expect(await woken).toBe(true);
    await wakeSignal.close();
    running[0]!.open();
    await until(async () => String(await active()) === '0,1');
  });
});
