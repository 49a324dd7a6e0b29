import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Delivery, LeaseLost } from '../../lib/consumer/delivery.js';
import { Capacity, Slots } from '../../lib/consumer/capacity.js';
import { Dispatcher } from '../../lib/consumer/dispatcher.js';
import { HANDLED } from '../../lib/consumer/outcomes.js';
import type { Outcome } from '../../lib/store/consumer-store.js';
import { newDelivery, newLease } from '../support/deliveries.js';
import { ManualClock } from '../support/manual-clock.js';
import { LoggedEvents } from '../support/logged-events.js';

const LEASE = 3000;

describe('Dispatcher', () => {
  let clock: ManualClock;
  let reported: LoggedEvents;
  let slots: Slots;
  let capacity: Capacity;
  /** Everything that happened, in order. */
  let events: string[];
  let handle: (delivery: Delivery) => void | Promise<Outcome>;
  let dispatcher: Dispatcher;

  beforeEach(() => {
    clock = new ManualClock();
    reported = new LoggedEvents();
    slots = new Slots(100, 1);
    capacity = new Capacity({ slots, clock, batch: 1 });
    events = [];
    handle = () => undefined;
    let released: string[] = [];
    dispatcher = new Dispatcher({
      queue: 'orders',
      clock,
      events: reported,
      capacity,
      lease: LEASE,
      runner: {
        waitingCalls: { maxBatch: 2, flush: () => void events.push('flush'), stop: () => undefined },
        run: (delivery) => {
          events.push(delivery.id);
          return handle(delivery) ?? HANDLED;
        },
      },
      settler: {
        settle: ({ id }, { kind }) => {
          if (kind === 'release') released.push(id);
        },
        flush: () => {
          if (released.length > 0) events.push(`back ${released.join()}`);
          released = [];
        },
      },
      claimer: { releaseIfLate: () => void events.push('give way') },
    });
  });

  function add(token: string, ids: string, lease = newLease(token)): readonly Delivery[] {
    const deliveries = [...ids].map((id) => newDelivery(id, {}, lease));
    dispatcher.add(lease, deliveries, clock.monotonic());
    return deliveries;
  }

  it('frees the slot of a message when its handler is done', async () => {
    let finish: (outcome: Outcome) => void = () => undefined;
    handle = ({ id }) => (id === 'b' ? new Promise((resolve) => (finish = resolve)) : undefined);
    capacity.end(capacity.reserve(2), 2);
    add('t', 'ab');
    await dispatcher.run();
    expect(slots.free).toBe(99);
    finish(HANDLED);
    await clock.advance(0);
    expect(slots.free).toBe(100);
  });

  it('flushes waiting calls once all messages have started and no slot is left', async () => {
    const pending = new Promise<never>(() => undefined);
    handle = () => {
      clock.block(10);
      return pending;
    };
    capacity.end(capacity.reserve(99), 99);
    add('t', 'ab');
    await dispatcher.run();
    expect(events).toEqual(['a', 'give way', 'b', 'give way']);
    capacity.end(capacity.reserve(1), 1);
    add('u', 'cd');
    await dispatcher.run();
    expect(events.slice(4)).toEqual(['c', 'give way', 'd', 'give way', 'flush']);
  });

  it('starts all quick handlers at once', async () => {
    add('t', 'abc');
    await dispatcher.run();
    expect(events).toEqual(['a', 'b', 'c']);
  });

  it('yields to the event loop between slow handlers', async () => {
    handle = () => {
      clock.block(2.5);
      if (events.length === 1) setImmediate(() => events.push('turn'));
    };
    add('t', 'abcd');
    await dispatcher.run();
    expect(events).toEqual(['a', 'b', 'give way', 'turn', 'c', 'd', 'give way']);
  });

  it('counts the handlers of several claims towards the same turn', async () => {
    handle = () => clock.block(3);
    add('t', 'a');
    await dispatcher.run();
    add('u', 'bcd');
    await dispatcher.run();
    expect(events).toEqual(['a', 'b', 'give way', 'c', 'd', 'give way']);
  });

  it('receives the outcomes of handlers that are already done before it yields to the event loop', async () => {
    handle = ({ id }) => {
      clock.block(10);
      const done = new Promise((resolve) => resolve(Promise.resolve()));
      void done.then(() => events.push(`done ${id}`));
    };
    add('t', 'ab');
    await dispatcher.run();
    expect(events).toEqual(['a', 'done a', 'give way', 'b', 'done b', 'give way']);
  });

  it('releases messages that cannot start within a third of the lease, before it yields to the event loop', async () => {
    handle = () => clock.block(400);
    add('t', 'abcdef');
    await dispatcher.run();
    expect(events).toEqual(['a', 'give way', 'b', 'give way', 'c', 'back d,e,f', 'give way']);
  });

  it('releases a claim that waits too long behind another', async () => {
    handle = () => clock.block(1100);
    add('t', 'ab');
    add('u', 'cd');
    await dispatcher.run();
    expect(events).toEqual(['a', 'back b,c,d', 'give way']);
  });

  it('never starts a handler under a lease that has ended', async () => {
    add('t', 'abc', newLease('t', 100));
    handle = () => clock.block(100);
    await dispatcher.run();
    expect(events).toEqual(['a', 'back b,c', 'give way']);
  });

  it('releases a message whose lease was lost, and starts the others', async () => {
    const [, b] = add('t', 'abc');
    b!.abort(new LeaseLost('replaced'));
    await dispatcher.run();
    expect(events).toEqual(['a', 'back b', 'c']);
  });

  it('does not start handlers once it is stopped', async () => {
    handle = () => {
      clock.block(10);
      dispatcher.stop();
    };
    add('t', 'abc');
    await dispatcher.run();
    add('u', 'd');
    await dispatcher.run();
    expect(events).toEqual(['a', 'back b,c', 'give way', 'back d']);
  });

  it('makes later claims smaller if handlers block', async () => {
    handle = () => clock.block(50);
    add('t', 'abcdefghij');
    await dispatcher.run();
    expect([capacity.reserve().count, capacity.isQuick]).toEqual([2, false]);
  });

  it('warns of blocking handlers once a minute, with the remedy and the number of released messages', async () => {
    handle = () => clock.block(1000);
    const warnings = () => reported.lines.filter((line) => line.startsWith('warn'));
    for (const token of ['t', 'u', 'v']) {
      add(token, 'abc');
      await dispatcher.run();
    }
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]).toMatch(
      /orders: 2 messages were released because blocked handlers left no time.*worker threads/,
    );
    clock.block(60_000);
    add('w', 'abc');
    await dispatcher.run();
    expect(warnings()[1]).toContain('6 messages');
  });
});
