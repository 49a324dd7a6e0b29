import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Delivery, LeaseLost } from '../../lib/consumer/delivery.js';
import { Pace } from '../../lib/consumer/pace.js';
import { Starter } from '../../lib/consumer/starter.js';
import { newDelivery, newLease } from '../support/deliveries.js';
import { ManualClock } from '../support/manual-clock.js';
import { LoggedEvents } from '../support/logged-events.js';

const LEASE = 3000;

describe('Starter', () => {
  let clock: ManualClock;
  let told: LoggedEvents;
  let pace: Pace;
  /** Everything that happened, in order. */
  let events: string[];
  let handle: (delivery: Delivery) => void;
  let starter: Starter;

  beforeEach(() => {
    clock = new ManualClock();
    told = new LoggedEvents();
    pace = new Pace();
    events = [];
    handle = () => undefined;
    starter = new Starter({
      queue: 'orders',
      clock,
      events: told,
      pace,
      share: () => 1,
      lease: LEASE,
      start: (delivery) => {
        events.push(delivery.id);
        handle(delivery);
      },
      release: (deliveries) => events.push(`back ${deliveries.map(({ id }) => id).join()}`),
      beforeGivingWay: () => events.push('give way'),
    });
  });

  function add(token: string, ids: string, lease = newLease(token)): readonly Delivery[] {
    const deliveries = [...ids].map((id) => newDelivery(id, {}, lease));
    starter.add(lease, deliveries, clock.monotonic());
    return deliveries;
  }

  it('starts quick handlers all at once', async () => {
    add('t', 'abc');
    await starter.run();
    expect(events).toEqual(['a', 'b', 'c']);
  });

  it('lets the event loop turn between slow handlers', async () => {
    handle = () => {
      clock.block(3);
      if (events.length === 1) setImmediate(() => events.push('turn'));
    };
    add('t', 'abcd');
    await starter.run();
    expect(events).toEqual(['a', 'b', 'give way', 'turn', 'c', 'd', 'give way']);
  });

  it('counts the handlers of several claims towards the same turn', async () => {
    handle = () => clock.block(3);
    add('t', 'a');
    await starter.run();
    add('u', 'bcd');
    await starter.run();
    expect(events).toEqual(['a', 'b', 'give way', 'c', 'd', 'give way']);
  });

  it('gives way only after handlers that are already done have their outcomes', async () => {
    handle = ({ id }) => {
      clock.block(10);
      const done = new Promise((resolve) => resolve(Promise.resolve()));
      void done.then(() => events.push(`done ${id}`));
    };
    add('t', 'ab');
    await starter.run();
    expect(events).toEqual(['a', 'done a', 'give way', 'b', 'done b', 'give way']);
  });

  it('gives back, before timers fire, what cannot start within a third of the lease', async () => {
    handle = () => clock.block(400);
    add('t', 'abcdef');
    await starter.run();
    expect(events).toEqual(['a', 'give way', 'b', 'give way', 'c', 'back d,e,f', 'give way']);
  });

  it('gives back a claim that waited too long behind another', async () => {
    handle = () => clock.block(1100);
    add('t', 'ab');
    add('u', 'cd');
    await starter.run();
    expect(events).toEqual(['a', 'back b,c,d', 'give way']);
  });

  it('never starts a handler under a lease that has ended', async () => {
    add('t', 'abc', newLease('t', 100));
    handle = () => clock.block(100);
    await starter.run();
    expect(events).toEqual(['a', 'back b,c', 'give way']);
  });

  it('gives back a message whose lease was lost, and starts the others', async () => {
    const [, b] = add('t', 'abc');
    b!.abort(new LeaseLost('replaced'));
    await starter.run();
    expect(events).toEqual(['a', 'back b', 'c']);
  });

  it('starts no handler after it was stopped', async () => {
    handle = () => {
      clock.block(10);
      starter.stop();
    };
    add('t', 'abc');
    await starter.run();
    add('u', 'd');
    await starter.run();
    expect(events).toEqual(['a', 'back b,c', 'give way', 'back d']);
  });

  it('makes later claims smaller if handlers block', async () => {
    handle = () => clock.block(50);
    add('t', 'abcdefghij');
    await starter.run();
    expect([pace.limit, pace.isQuick]).toEqual([2, false]);
  });

  it('warns of blocking handlers once a minute, with the remedy and the number of messages given back', async () => {
    handle = () => clock.block(1000);
    const warnings = () => told.lines.filter((line) => line.startsWith('warn'));
    for (const token of ['t', 'u', 'v']) {
      add(token, 'abc');
      await starter.run();
    }
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]).toMatch(
      /orders: 2 messages were returned because blocked handlers left no time.*worker threads/,
    );
    clock.block(60_000);
    add('w', 'abc');
    await starter.run();
    expect(warnings()[1]).toContain('6 messages');
  });
});
