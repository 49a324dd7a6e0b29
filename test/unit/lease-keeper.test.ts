import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Delivery } from '../../lib/consumer/delivery.js';
import { LeaseKeeper } from '../../lib/consumer/lease-keeper.js';
import { DelayQueueError } from '../../lib/message/delay-queue-errors.js';
import type { Claim } from '../../lib/store/consumer-store.js';
import { newDelivery, newLease } from '../support/deliveries.js';
import { ManualClock } from '../support/manual-clock.js';
import { LoggedEvents } from '../support/logged-events.js';

const LEASE = 3000;

describe('LeaseKeeper', () => {
  let clock: ManualClock;
  let events: LoggedEvents;
  let keeper: LeaseKeeper;
  /** When each call was made, and the ids it named. */
  let calls: [number, string][];
  /** Says which ids or tokens are lost. */
  let answer: () => Promise<string[]>;

  beforeEach(() => {
    clock = new ManualClock();
    events = new LoggedEvents();
    calls = [];
    answer = () => Promise.resolve([]);
    const extend = async <Held extends Claim>(claims: readonly Held[]) => {
      calls.push([clock.monotonic(), claims.map(({ id }) => id).join('')]);
      const lost = await answer();
      return claims.filter(({ id, token }) => lost.includes(id) || lost.includes(token));
    };
    keeper = new LeaseKeeper({ queue: 'orders', store: { extend }, clock, events, lease: LEASE });
  });

  function hold(token: string, ids: string, sentAt = clock.monotonic()): Delivery[] {
    const lease = newLease(token, sentAt + LEASE);
    const deliveries = [...ids].map((id) => newDelivery(id, {}, lease));
    keeper.hold(lease, deliveries);
    return deliveries;
  }

  const lostOf = (held: readonly Delivery[]) => held.filter(({ abortReason }) => abortReason).map(({ id }) => id);
  const never = () => new Promise<never>(() => undefined);

  it('extends all leases in one call when a third of the oldest lease has passed', async () => {
    hold('t', 'ab');
    await clock.advance(600);
    hold('u', 'c');
    await clock.advance(1500);
    expect(calls).toEqual([
      [1000, 'abc'],
      [2000, 'abc'],
    ]);
  });

  it('makes no calls for handlers that finish quickly', async () => {
    for (let i = 0; i < 100; i++) {
      const held = hold(`t${i}`, 'ab');
      await clock.advance(200);
      held.forEach((one) => keeper.letGo(one));
    }
    expect(calls).toEqual([]);
    await clock.advance(LEASE);
    expect(clock.pendingTimers).toBe(0);
  });

  it('has one timer, even if a later lease must be extended earlier', async () => {
    await clock.advance(500);
    hold('t', 'a');
    hold('u', 'b', clock.monotonic() - 500);
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(500);
    expect(calls).toEqual([[1000, 'ab']]);
  });

  it('extends a lease at once if the response to its claim took long', async () => {
    await clock.advance(5000);
    hold('t', 'a', clock.monotonic() - 2500);
    await clock.advance(1);
    expect(calls).toEqual([[5001, 'a']]);
  });

  it('loses the old claim of a message that was replaced and claimed again, and keeps the new one', async () => {
    const [old] = hold('t', 'a');
    const [claim] = hold('u', 'a');
    answer = () => Promise.resolve(['t']);
    await clock.advance(1000);
    expect(old!.abortReason).toBeDefined();
    expect(claim!.abortReason).toBeUndefined();
  });

  it('gives up a lease when it ends by the local clock, even if the store does not answer', async () => {
    answer = never;
    const held = hold('t', 'ab', -100);
    await clock.advance(2899);
    expect(lostOf(held)).toEqual([]);
    await clock.advance(1);
    expect(lostOf(held)).toEqual(['a', 'b']);
    expect(String(held[0]!.abortReason)).toContain('could not be extended in time');
  });

  it('keeps a lease that cannot be extended until it expires', async () => {
    answer = () => Promise.reject(new DelayQueueError('NOT_CONNECTED', 'gone'));
    const held = hold('t', 'a');
    await clock.advance(2999);
    expect(lostOf(held)).toEqual([]);
    expect(calls.length).toBeGreaterThan(3);
    await clock.advance(1);
    expect(lostOf(held)).toEqual(['a']);
  });

  it('counts an extended lease from the call rather than from its response', async () => {
    answer = () => clock.sleep(500).then(() => []);
    const held = hold('t', 'a');
    await clock.advance(1500);
    answer = never;
    expect(held[0]!.lease.end).toBe(1000 + LEASE);
    await clock.advance(2499);
    expect(lostOf(held)).toEqual([]);
    await clock.advance(1);
    expect(lostOf(held)).toEqual(['a']);
  });

  it('can lose individual messages of a claim, and does not try to extend a lost one again', async () => {
    answer = () => Promise.resolve(['b']);
    const held = hold('t', 'abc');
    await clock.advance(2500);
    expect(lostOf(held)).toEqual(['b']);
    expect(calls.map(([, named]) => named)).toEqual(['abc', 'ac']);
  });

  it('extends leases only for messages that are not settled yet', async () => {
    const [a] = hold('t', 'abc');
    await clock.advance(1500);
    keeper.letGo(a!);
    await clock.advance(1000);
    expect(calls.map(([, named]) => named)).toEqual(['abc', 'bc']);
  });

  it('never splits a claim across two calls', async () => {
    const letters = (count: number) =>
      Array.from({ length: count }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('');
    hold('t', letters(700));
    hold('u', letters(700));
    await clock.advance(1000);
    expect(calls.map(([, named]) => [...named].length)).toEqual([700, 700]);
  });

  it('forgets all leases when it stops', async () => {
    hold('t', 'a');
    keeper.stop();
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(LEASE);
    expect(calls).toEqual([]);
  });
});
