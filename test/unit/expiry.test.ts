import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FirstDue, type QueueExpiry } from '../../lib/consumer/first-due.js';
import { MessageRunner } from '../../lib/consumer/message-runner.js';
import { HANDLED, Outcomes } from '../../lib/consumer/outcomes.js';
import { UnknownTypes } from '../../lib/consumer/unknown-types.js';
import { nativeCodec } from '../../lib/message/codec/native-codec.js';
import type { Expiry } from '../../lib/message/expiry.js';
import type { Delivery, Terms } from '../../lib/consumer/delivery.js';
import { resolveQueueOptions } from '../../lib/options/resolve-options.js';
import type { Outcome } from '../../lib/store/consumer-store.js';
import { newDelivery, newLease } from '../support/deliveries.js';
import { LoggedEvents } from '../support/logged-events.js';
import { ManualClock } from '../support/manual-clock.js';

const RUNS = 1000;

const after = fc.option(fc.nat({ max: 10_000 }), { nil: null });
const onExpired = fc.constantFrom<('drop' | 'dead')[]>('drop', 'dead');
const ownExpiry: fc.Arbitrary<Expiry | undefined> = fc.option(
  fc.oneof(
    fc.constant({ after: null }),
    fc.record({ after: fc.nat({ max: 10_000 }), onExpired: fc.option(onExpired, { nil: undefined }) }),
  ),
  { nil: undefined },
);
const queueExpiry: fc.Arbitrary<QueueExpiry> = fc.record({ after, onExpired });

/** The steps of a message between attempts: it is delayed again, or begins anew. */
const steps = fc.array(fc.record({ begins: fc.boolean(), delay: fc.nat({ max: 5000 }) }), { maxLength: 8 });

const [clock, events] = [new ManualClock(), new LoggedEvents()];
const outcomes = new Outcomes({ ...resolveQueueOptions(), codec: nativeCodec, clock, events });

/** Reads the terms that a queue's handler sees. */
function newReader(queue: QueueExpiry): (stored: Buffer, dueAt: number) => Terms | undefined {
  let handled: Delivery | undefined;
  const runner = new MessageRunner({
    codec: nativeCodec,
    handles: new Map([
      [
        '',
        (delivery) => {
          handled = delivery;
          return HANDLED;
        },
      ],
    ]),
    unknownTypes: new UnknownTypes({ grace: 0, events }),
    expiry: queue,
    outcomes,
  });
  return (body, dueAt) => {
    // Nothing has expired when the handler is called, and everything that can is expired afterwards.
    let now = -Infinity;
    const delivery = newDelivery('m', { body, dueAt }, { ...newLease(), storeNow: () => now });
    void runner.run(delivery);
    expect(handled).toBe(delivery);
    now = Infinity;
    return delivery.terms;
  };
}

const bodyOf = (outcome: Outcome | undefined) => (outcome && 'body' in outcome ? outcome.body : undefined);

describe('an expiry', () => {
  it('counts from the first due time through all retries, and restarts with again()', () => {
    const property = fc.property(ownExpiry, queueExpiry, fc.nat(), steps, (expiry, queue, start, all) => {
      const { after: length, onExpired: wanted = queue.onExpired } = expiry ?? queue;
      const offered = Buffer.from(nativeCodec.encode({ type: '', payload: 1, headers: {}, expiry }));
      const termsOf = newReader(queue);
      // The model: one variable.
      let first = start;
      let stored: Buffer = offered;
      let dueAt = start;
      for (const { begins, delay } of [{ begins: false, delay: 0 }, ...all]) {
        const terms = termsOf(stored, dueAt);
        expect(terms?.expiresAt?.getTime() ?? null).toBe(length === null ? null : first + length);
        expect(terms?.outcomeWithoutHandler()?.kind).toBe(
          length === null ? undefined : wanted === 'drop' ? 'ack' : 'dead',
        );
        dueAt += delay;
        const outcome = terms?.complete(begins ? { kind: 'again', delay } : { kind: 'retry', delay });
        stored = Buffer.from(bodyOf(outcome) ?? stored);
        if (begins) first = dueAt;
      }
      expect(nativeCodec.decode(stored)).toEqual(nativeCodec.decode(offered));
    });
    fc.assert(property, { numRuns: RUNS });
  });

  it('counts from the due time of each retry if the body may have no room for the first due time', () => {
    const body = Buffer.alloc(1024 * 1024);
    const queue: QueueExpiry = { after: 1, onExpired: 'drop' };
    const firstDue = new FirstDue(newDelivery('m', { dueAt: 5 }), body, { content: {}, queue });
    expect(firstDue.complete({ kind: 'retry', delay: 1 })).toEqual({ kind: 'retry', delay: 1 });
  });
});
