import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { nativeCodec } from '../../lib/message/codec/native-codec.js';
import { HandlerTimeout } from '../../lib/consumer/delivery.js';
import { Outcomes } from '../../lib/consumer/outcomes.js';
import { RetryPolicy } from '../../lib/consumer/retry-policy.js';
import { checkOf } from '../../lib/schemas/schema-check.js';
import { again } from '../../lib/message/handler-results.js';
import { resolveQueueOptions } from '../../lib/options/resolve-options.js';
import { newDelivery } from '../support/deliveries.js';
import { LoggedEvents } from '../support/logged-events.js';
import { ManualClock } from '../support/manual-clock.js';

/** The outcome of a message of type `remind`, whose payloads the schema checks. */
function newOutcomes(schema: unknown, timeout: number | null = null) {
  const clock = new ManualClock();
  const events = new LoggedEvents();
  const settings = resolveQueueOptions({ backoff: { type: 'fixed', delay: 1000 } });
  const outcomes = new Outcomes({ ...settings, codec: nativeCodec, clock, events });
  const rules = { check: checkOf(schema), retryPolicy: new RetryPolicy(settings, events), timeout };
  const delivery = newDelivery('a');
  delivery.open({ type: 'remind', payload: 'old', headers: {} });
  return { clock, events, delivery, done: (result: unknown) => outcomes.returned(delivery, rules, result) };
}

describe('a new payload passed to again()', () => {
  it('is checked synchronously if its schema is synchronous', () => {
    const { done, events } = newOutcomes(z.string());
    expect(done(again(5, { payload: 'new' }))).toEqual({ kind: 'again', delay: 5, body: 'Kremind\n"new"' });
    expect(done(again(5, { payload: 7 }))).toEqual({ kind: 'retry', delay: 1000 });
    expect(events.lines.join('\n')).toContain("payload of type 'remind' of queue 'orders': the schema refuses payload");
  });

  it('is stored as given, and checked in the form in which it will be read', () => {
    const { done } = newOutcomes(z.object({ at: z.string().transform(() => 'changed') }));
    expect(done(again(5, { payload: { at: new Date(0) } }))).toMatchObject({
      kind: 'again',
      body: 'Kremind\n{"at":"1970-01-01T00:00:00.000Z"}',
    });
  });

  it('is optional: without it, the old payload stays and is not checked', () => {
    const { done } = newOutcomes(z.number());
    expect(done(again(5))).toEqual({ kind: 'again', delay: 5 });
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('database is down');
      },
    ],
    ['rejects', () => Promise.reject(new Error('database is down'))],
  ])('fails the attempt if the schema %s', async (_, validate) => {
    const { done, events } = newOutcomes({ '~standard': { validate } });
    expect(await done(again(5, { payload: 'new' }))).toEqual({ kind: 'retry', delay: 1000 });
    expect(events.lines.join('\n')).toContain('database is down');
  });

  it("fails the attempt if the schema takes longer than the handler's timeout", async () => {
    const { done, clock, delivery } = newOutcomes(
      { '~standard': { validate: () => new Promise(() => undefined) } },
      500,
    );
    const outcome = done(again(5, { payload: 'new' }));
    await clock.advance(499);
    expect(delivery.abortReason).toBeUndefined();
    await clock.advance(1);
    expect(delivery.abortReason).toBeInstanceOf(HandlerTimeout);
    expect(await outcome).toEqual({ kind: 'retry', delay: 1000 });
  });
});
