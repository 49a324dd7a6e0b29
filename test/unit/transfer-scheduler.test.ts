import { beforeEach, describe, expect, it } from '@jest/globals';
import { MemoryMessageStore } from '../../lib/store/memory/memory-store.js';
import type { DueListener, AnnouncedTransfer, TransferReport } from '../../lib/store/consumer-store.js';
import type { MessageStore } from '../../lib/store/message-store.js';
import { TransferScheduler } from '../../lib/consumer/transfer-scheduler.js';
import { Latch } from '../support/latch.js';
import { RemoteClock } from '../../lib/timing/clock.js';
import { idleConsumer } from '../support/idle-consumer.js';
import { ManualClock } from '../support/manual-clock.js';
import { LoggedEvents } from '../support/logged-events.js';
import { randomName } from '../support/random-name.js';

const HOUR = 3_600_000;
const CHECK_INTERVAL = 60_000;

describe('TransferScheduler', () => {
  let clock: ManualClock;
  let store: MessageStore;
  let transfers: number;

  beforeEach(() => {
    clock = new ManualClock();
    store = new MemoryMessageStore({
      limits: { attempts: 5, maxDeadLetters: 10, maxMessages: null },
      clock,
    });
    transfers = 0;
    const transfer = store.transfer.bind(store);
    store.transfer = (request) => {
      transfers++;
      return transfer(request);
    };
  });

  const scheduler = (id = 'a', over: MessageStore = store, consumer: typeof idleConsumer = idleConsumer) =>
    new TransferScheduler({
      queue: 'orders',
      store: over,
      clock,
      events: new LoggedEvents(),
      id,
      checkInterval: CHECK_INTERVAL,
      storeClock: new RemoteClock(50),
      consumer,
      random: () => 0.5,
    });
  const offer = (id: string, after: number) => store.offer([{ id, due: { after }, onDuplicate: 'keep', body: 'J1' }]);
  const ready = async () => (await store.status()).counts.ready;
  const claimAll = () => store.claim({ token: randomName('token'), limit: 1000, lease: HOUR });

  it('moves a message in the millisecond in which it falls due, and not before', async () => {
    await offer('a', 500);
    scheduler().start();
    await clock.advance(499);
    expect(await ready()).toBe(0);
    await clock.advance(1);
    expect(await ready()).toBe(1);
  });

  it('moves messages at startup that fell due while no scheduler was running', async () => {
    await offer('a', 10);
    await clock.advance(HOUR);
    scheduler().start();
    await clock.advance(0);
    expect(await ready()).toBe(1);
  });

  it('fires earlier when an earlier message is offered', async () => {
    await offer('late', HOUR);
    scheduler().start();
    await clock.advance(1000);
    await offer('early', 200);
    await clock.advance(200);
    expect(await ready()).toBe(1);
  });

  it('fires only once for many announcements of the same instant', async () => {
    scheduler().start();
    await clock.advance(1000);
    transfers = 0;
    for (const id of ['c', 'b', 'a']) await offer(id, 300);
    await clock.advance(300);
    expect(transfers).toBe(1);
    expect(await ready()).toBe(3);
  });

  it.each([
    ['fires late by half the difference if a short call takes longer on its way back', 4, 12, 4],
    ['is at most ten milliseconds late if the reply to a call is very late', 1, 900, 9],
    ['fires again if a call took long on its way to the store', 900, 1, 0],
  ])('%s', async (_what, there, back, late) => {
    await offer('a', 5000);
    const transfer = store.transfer.bind(store);
    store.transfer = async (request) => {
      await clock.sleep(there);
      const report = await transfer(request);
      await clock.sleep(back);
      return report;
    };
    scheduler().start();
    await clock.advance(there + back);
    store.transfer = transfer;
    await clock.advance(5000 + late - (there + back) - 1);
    expect(await ready()).toBe(0);
    await clock.advance(1);
    expect(await ready()).toBe(1);
  });

  it.each([
    ['a message', 'onEarlierDue'],
    ['a transfer', 'onTransfer'],
  ] as const)(
    'is at most ten milliseconds late if the announcement of %s waits for the event loop',
    async (_of, kind) => {
      let listener: DueListener | undefined;
      store.watchDue = (each) => {
        listener = each;
        return () => undefined;
      };
      scheduler().start();
      await clock.advance(1000);
      const [{ dueAt } = { dueAt: NaN }] = await offer('a', 500);
      const at = dueAt - 500;
      await clock.advance(300);
      if (kind === 'onEarlierDue') listener!.onEarlierDue({ dueAt, dueIn: 500 });
      else listener!.onTransfer!({ scheduler: 'b', at, movedAt: null, ready: 0, nextIn: 500, nextAt: dueAt });
      await clock.advance(209);
      expect(await ready()).toBe(0);
      await clock.advance(1);
      expect(await ready()).toBe(1);
    },
  );

  it('keeps an announcement that overtakes the reply of a transfer', async () => {
    await offer('late', HOUR);
    scheduler().start();
    await clock.advance(CHECK_INTERVAL - 1);
    const reply = new Latch();
    const transfer = store.transfer.bind(store);
    store.transfer = async (request) => {
      const report = await transfer(request);
      await reply.opened;
      return report;
    };
    await clock.advance(1);
    store.transfer = transfer;
    await offer('early', 100);
    await clock.advance(50);
    reply.open();
    await clock.advance(49);
    expect(await ready()).toBe(0);
    await clock.advance(1);
    expect(await ready()).toBe(1);
  });

  it('finds a message within the check interval even if its announcement was lost', async () => {
    const deaf: MessageStore = Object.create(store, { watchDue: { value: () => () => undefined } }) as MessageStore;
    deaf.transfer = (request) => store.transfer(request);
    scheduler('a', deaf).start();
    await clock.advance(1000);
    await offer('a', 10);
    await clock.advance(CHECK_INTERVAL);
    expect(await ready()).toBe(1);
  });

  it('transfers again when its subscription restarts', async () => {
    let announced: () => void = () => undefined;
    store.watchDue = (listener) => {
      announced = () => listener.onListening();
      return () => undefined;
    };
    scheduler().start();
    await clock.advance(1000);
    await offer('a', 10);
    await clock.advance(500);
    expect(await ready()).toBe(0);
    announced();
    await clock.advance(0);
    expect(await ready()).toBe(1);
  });

  it('keeps running after store errors, with increasing pauses', async () => {
    await offer('a', 0);
    const transfer = store.transfer.bind(store);
    let failures = 0;
    store.transfer = () => {
      failures++;
      return Promise.reject(new Error('LOADING Redis is loading the dataset in memory'));
    };
    scheduler().start();
    await clock.advance(10_000);
    expect(failures).toBeGreaterThan(4);
    expect(failures).toBeLessThan(12);
    store.transfer = transfer;
    await clock.advance(5000);
    expect(await ready()).toBe(1);
  });

  it('moves all due messages, even if they fill more than one batch', async () => {
    const offers = Array.from({ length: 2500 }, (_, i) => ({
      id: `m${i}`,
      due: { after: 100 },
      onDuplicate: 'keep' as const,
      body: 'J1',
    }));
    for (let at = 0; at < offers.length; at += 500) await store.offer(offers.slice(at, at + 500));
    scheduler().start();
    await clock.advance(100);
    expect(await ready()).toBe(2500);
  });

  it('sleeps for no longer than one check interval, however far off the next message is', async () => {
    await offer('a', 2 ** 31 + HOUR);
    scheduler().start();
    await clock.advance(CHECK_INTERVAL * 10);
    expect(transfers).toBeLessThanOrEqual(12);
    expect(await ready()).toBe(0);
    await clock.advance(2 ** 31 + HOUR - CHECK_INTERVAL * 10);
    expect(await ready()).toBe(1);
  });

  it('transfers every second while messages are ready, to make up for a lost wake-up signal', async () => {
    await offer('a', 0);
    scheduler().start();
    await clock.advance(0);
    const wakeSignal = store.openWakeSignal();
    await wakeSignal.wait(10);
    const second = wakeSignal.wait(5000);
    await clock.advance(1000);
    expect(await second).toBe(true);
  });

  it('recovers the message of an expired lease when the lease ends', async () => {
    await offer('a', 0);
    scheduler().start();
    await clock.advance(0);
    await store.claim({ token: 't', limit: 1, lease: 2000 });
    await clock.advance(1999);
    expect(await ready()).toBe(0);
    await clock.advance(1);
    expect(await ready()).toBe(1);
  });

  it('leaves no timer behind when it is stopped', async () => {
    await offer('a', HOUR);
    const stopped = scheduler();
    stopped.start();
    await clock.advance(10);
    await stopped.stop();
    expect(clock.pendingTimers).toBe(0);
    await offer('b', 5);
    await clock.advance(HOUR);
    expect(await ready()).toBe(0);
  });

  it('makes one transfer at a time, however many announcements arrive', async () => {
    let underWay = 0;
    let most = 0;
    const transfer = store.transfer.bind(store);
    store.transfer = async (request) => {
      most = Math.max(most, ++underWay);
      await clock.sleep(100);
      underWay--;
      return transfer(request);
    };
    scheduler().start();
    for (let i = 0; i < 20; i++) {
      await offer(`m${i}`, 0);
      await clock.advance(10);
    }
    await clock.advance(1000);
    expect(await ready()).toBe(20);
    expect(most).toBe(1);
  });

  it('waits for a running transfer when it is stopped', async () => {
    let finish: (report: TransferReport) => void = () => undefined;
    store.transfer = () => new Promise((resolve) => (finish = resolve));
    const stopping = scheduler();
    stopping.start();
    await clock.advance(0);
    let stopped = false;
    const end = stopping.stop().then(() => (stopped = true));
    await clock.advance(0);
    expect(stopped).toBe(false);
    finish({
      moved: 0,
      recovered: 0,
      deadLettered: [],
      dropped: 0,
      more: false,
      ready: 0,
      nextIn: 5,
      nextAt: 5,
      at: 0,
    });
    await end;
    expect(clock.pendingTimers).toBe(0);
  });

  it('claims until the consumer takes no more, and leaves the other due messages to all consumers', async () => {
    for (let i = 0; i < 9; i++) await offer(`m${i}`, 0);
    await clock.advance(1);
    const claims: number[] = [];
    const transferAndClaim = async (_announcer: unknown, taken: number) => {
      claims.push(taken);
      return taken < 6 ? { ...(await store.transfer({ limit: 2 + taken })), more: true } : undefined;
    };
    await scheduler('a', store, { ...idleConsumer, transferAndClaim }).runOnce();
    expect([claims, transfers, await ready()]).toEqual([[0, 2, 6], 3, 9]);
  });

  it('claims no more once a plain transfer was needed', async () => {
    for (let i = 0; i < 2500; i++) await offer(`m${i}`, 0);
    await clock.advance(1);
    let claims = 0;
    const transferAndClaim = () => Promise.resolve(void claims++);
    await scheduler('a', store, { ...idleConsumer, transferAndClaim }).runOnce();
    expect([claims, transfers, await ready()]).toEqual([1, 3, 2500]);
  });

  it('stays eager when the message that it waits for is cancelled', async () => {
    const lone = scheduler();
    lone.start();
    await clock.advance(100);
    await offer('a', 500);
    await clock.advance(100);
    await store.cancel('a');
    await clock.advance(1000);
    expect(lone.isEager).toBe(true);
  });

  it('stays eager if it fires too early', async () => {
    await offer('a', 1000);
    const early = scheduler();
    await early.runOnce();
    await clock.advance(999);
    await early.runOnce();
    expect(early.isEager).toBe(true);
  });

  describe('after false announcements', () => {
    let announce: DueListener;
    let due: number;

    beforeEach(async () => {
      const watchDue = store.watchDue.bind(store);
      store.watchDue = (listener) => {
        announce = listener;
        return watchDue(listener);
      };
      scheduler().start();
      await clock.advance(0);
      ({ dueAt: due } = (await offer('a', 10_000))[0] as { dueAt: number });
      await clock.advance(1000);
      transfers = 0;
    });
    const strange = (over: Partial<AnnouncedTransfer> = {}) =>
      announce.onTransfer?.({ scheduler: 'x', at: due, movedAt: due, ready: 0, nextAt: null, nextIn: null, ...over });

    it.each<[string, Partial<AnnouncedTransfer>]>([
      ['that leaves nothing', {}],
      ['after which a message is due much later', { nextAt: 1e12, nextIn: 1e12 }],
      ['from the future', { at: 1e15, movedAt: 1e15 }],
    ])('still moves the message that it expects after the announcement of a transfer %s', async (_what, reported) => {
      strange(reported);
      await clock.advance(9000 + 1250);
      expect([transfers, await ready()]).toEqual([1, 1]);
    });

    it.each<[string, Partial<AnnouncedTransfer>]>([
      ['has moved nothing', { movedAt: null }],
      ["moved something before the store's clock was set back", { movedAt: 1e15 }],
    ])('stays punctual if another scheduler announces that it %s', async (_what, reported) => {
      strange(reported);
      await clock.advance(9000);
      expect([transfers, await ready()]).toEqual([1, 1]);
    });

    it.each<[string, Partial<AnnouncedTransfer>]>([
      ['nothing is left', {}],
      ['messages are ready', { ready: 5 }],
    ])('still checks within the check interval, however often they say that %s', async (_what, reported) => {
      for (let passed = 1000; passed < CHECK_INTERVAL; passed += 100) {
        strange(reported);
        await clock.advance(100);
      }
      expect(await ready()).toBe(1);
    });

    it('checks once for each announcement of a due message', async () => {
      for (let i = 1; i <= 5; i++) {
        announce.onEarlierDue({ dueAt: 0, dueIn: 0 });
        await clock.advance(1);
        expect(transfers).toBe(i);
      }
      await clock.advance(8994);
      expect([transfers, await ready()]).toEqual([5, 0]);
      await clock.advance(1);
      expect([transfers, await ready()]).toEqual([6, 1]);
    });
  });

  describe('in several processes', () => {
    /** Two schedulers after a message that the first one has moved, when nothing is left to do. */
    async function settled(): Promise<[eager: TransferScheduler, standby: TransferScheduler]> {
      const [eager, standby] = [scheduler('a'), scheduler('b')];
      eager.start();
      standby.start();
      await clock.advance(2000);
      await offer('the first of all', 100);
      await clock.advance(100);
      await store.claim({ token: 'first', limit: 1, lease: HOUR });
      await store.settle([{ claim: { id: 'the first of all', token: 'first' }, outcome: { kind: 'ack' } }]);
      await clock.advance(5000);
      expect([eager.isEager, standby.isEager]).toEqual([true, false]);
      return [eager, standby];
    }

    it('only the eager scheduler fires for a due message', async () => {
      const all = ['a', 'b', 'c', 'd'].map((id) => scheduler(id));
      for (const each of all) each.start();
      await clock.advance(2000);
      await offer('first', 100);
      await clock.advance(2000);
      await claimAll();
      expect(all.filter(({ isEager }) => isEager)).toHaveLength(1);

      await clock.advance(5000);
      await offer('second', 100);
      transfers = 0;
      await clock.advance(100);
      expect(transfers).toBe(1);
      expect(await ready()).toBe(1);
      await claimAll();
      await clock.advance(20_000);
      // The eager one looks once more, because messages were ready.
      expect(transfers).toBe(2);
    });

    it('the other schedulers wait for the next due time that the eager one has found', async () => {
      const [eager, standby] = await settled();
      await offer('first', 100);
      await offer('second', 5000);
      await clock.advance(100);
      await claimAll();
      await clock.advance(3000);
      await eager.stop();
      transfers = 0;
      await clock.advance(1900 + 1000);
      expect([transfers, await ready(), standby.isEager]).toEqual([1, 1, true]);
    });

    it('the eager scheduler announces its transfers at most once every half second', async () => {
      await settled();
      for (const [i, delay] of [100, 150, 200].entries()) await offer(`m${i}`, delay);
      transfers = 0;
      await clock.advance(200);
      await claimAll();
      expect(transfers).toBe(3);
      await clock.advance(20_000);
      expect(transfers).toBe(4);
    });

    it('the eager scheduler announces a recovered lease or a cancelled message', async () => {
      await settled();
      await offer('a', 100);
      await clock.advance(100);
      await store.claim({ token: 't', limit: 1, lease: 3000 });
      await clock.advance(2000);
      transfers = 0;
      await clock.advance(1500);
      await claimAll();
      expect(transfers).toBeLessThanOrEqual(2);
      await offer('cancelled', 5000);
      await clock.advance(4000);
      await store.cancel('cancelled');
      transfers = 0;
      await clock.advance(10_000);
      expect(transfers).toBe(1);
    });

    it('a standby that receives no announcement checks a grace period later', async () => {
      await settled();
      await store.offer([{ id: 'a', due: { after: 100 }, onDuplicate: 'keep', body: 'J1' }]);
      const transfer = store.transfer.bind(store);
      store.transfer = ({ limit }) => transfer({ limit });
      transfers = 0;
      await clock.advance(100);
      await claimAll();
      expect(transfers).toBe(1);
      await clock.advance(1250);
      expect(transfers).toBeGreaterThanOrEqual(2);
    });

    it('a pending announcement does not shorten the pauses after errors', async () => {
      await settled();
      for (const [i, delay] of [100, 150].entries()) await offer(`m${i}`, delay);
      await clock.advance(150);
      await claimAll();
      let failures = 0;
      store.transfer = () => Promise.reject(new Error(`LOADING ${failures++}`));
      await clock.advance(10_000);
      expect(failures).toBeGreaterThan(4);
      expect(failures).toBeLessThan(24);
    });

    it('the scheduler that moved messages last stays eager if two schedulers move messages', async () => {
      const [a, b] = [scheduler('a'), scheduler('b')];
      a.start();
      b.start();
      await clock.advance(2000);
      for (const [i, mover] of [a, b, a, b].entries()) {
        await offer(`m${i}`, 0);
        await mover.runOnce();
        await clock.advance(1);
      }
      await claimAll();
      await clock.advance(3000);
      expect([a.isEager, b.isEager]).toEqual([false, true]);
    });

    it('a scheduler becomes eager again if it moves messages and the answer is lost', async () => {
      const [a, b] = await settled();
      await offer('second', 0);
      await b.runOnce();
      await claimAll();
      await offer('third', HOUR);
      await clock.advance(2000);
      expect([a.isEager, b.isEager]).toEqual([false, true]);

      const transfer = store.transfer.bind(store);
      store.transfer = async (request) => {
        await transfer(request);
        throw new Error('Connection is closed.');
      };
      await store.reschedule('third', { after: 0 });
      await expect(a.runOnce()).rejects.toThrow('Connection is closed.');
      store.transfer = transfer;
      await clock.advance(0);
      expect([a.isEager, b.isEager]).toEqual([true, false]);
    });

    it('a standby is punctual once a transfer arrives late that it has given up', async () => {
      const [eager, standby] = await settled();
      await eager.stop();
      await offer('moved by the late transfer', 10);
      await offer('next', 100);
      await clock.advance(20);
      await store.transfer({ announcer: { scheduler: 'b', movedAt: null }, limit: 1000 });
      await clock.advance(80);
      expect([await ready(), standby.isEager]).toEqual([2, true]);
    });

    it('a new scheduler is punctual when it replaces the eager one, whatever a standby has moved before', async () => {
      const [standby, eager] = [scheduler('a'), scheduler('b')];
      standby.start();
      eager.start();
      await clock.advance(2000);
      for (const mover of [standby, eager]) {
        await offer(`by ${mover === eager}`, 0);
        await mover.runOnce();
        await clock.advance(1);
      }
      await claimAll();
      await clock.advance(5000);
      expect([standby.isEager, eager.isEager]).toEqual([false, true]);
      await eager.stop();
      eager.leave();
      scheduler('c').start();
      await offer('later', 10_000);
      await clock.advance(5000);
      // The standby looks, and announces what it has found.
      standby.onListening();
      await clock.advance(5000);
      expect(await ready()).toBe(1);
    });

    it('a standby takes over within its grace period when the eager scheduler is gone, and stays eager', async () => {
      const [eager, standby] = [scheduler('a'), scheduler('b')];
      eager.start();
      standby.start();
      await clock.advance(2000);
      await offer('first', 100);
      await clock.advance(2000);
      await claimAll();
      expect([eager.isEager, standby.isEager]).toEqual([true, false]);

      await eager.stop();
      await offer('second', 100);
      await clock.advance(1350);
      expect(await ready()).toBe(1);
      expect(standby.isEager).toBe(true);

      await claimAll();
      await offer('third', 100);
      await clock.advance(100);
      expect(await ready()).toBe(1);
    });
  });
});
