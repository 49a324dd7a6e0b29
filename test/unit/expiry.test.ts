import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { bodyOfRetry, firstDueOf, mayMatter, type QueueExpiry } from '../../lib/consumer/first-due.js';
import { nativeCodec } from '../../lib/message/codec/native-codec.js';
import type { Expiry } from '../../lib/message/expiry.js';

const RUNS = 3000;

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

/** What happens to a message from attempt to attempt: it is delayed again, or begins anew. */
const steps = fc.array(fc.record({ begins: fc.boolean(), delay: fc.nat({ max: 5000 }), setAside: fc.boolean() }), {
  maxLength: 8,
});

describe('an expiry', () => {
  it('counts from the first due time over any number of attempts, and anew from each new beginning', () => {
    const property = fc.property(ownExpiry, queueExpiry, fc.nat(), steps, (expiry, queue, start, all) => {
      const { after: length, onExpired: wanted = queue.onExpired } = expiry ?? queue;
      const offered = Buffer.from(nativeCodec.encode({ type: '', payload: 1, headers: {}, expiry }));
      // The model: one variable.
      let first = start;
      let stored: Buffer = offered;
      let dueAt = start;
      for (const { begins, delay } of [{ begins: false, delay: 0 }, ...all]) {
        const content = nativeCodec.decode(stored);
        const matters = mayMatter(stored, content, queue);
        const known = matters ? firstDueOf(stored, { dueAt, content, queue }) : undefined;
        expect(known?.deadline ?? null).toBe(length === null ? null : first + length);
        if (known?.deadline !== undefined) expect(known.onExpired).toBe(wanted);
        dueAt += delay;
        if (begins) {
          stored = known?.isStored ? known.body : stored;
          first = dueAt;
        } else {
          stored = Buffer.from((known && bodyOfRetry(known)) ?? stored);
        }
      }
      expect(nativeCodec.decode(stored)).toEqual(nativeCodec.decode(offered));
    });
    fc.assert(property, { numRuns: RUNS });
  });

  it('of a body that may be as long as the server accepts is not kept over a retry', () => {
    const body = Buffer.alloc(1024 * 1024);
    const queue: QueueExpiry = { after: 1, onExpired: 'drop' };
    expect(bodyOfRetry(firstDueOf(body, { dueAt: 5, content: {}, queue }))).toBeUndefined();
  });
});
