import { beforeEach, describe, expect, it } from '@jest/globals';
import { Batches } from '../../lib/batches/batches.js';
import { callStep, checkStep, observeStep, type StepParts } from '../../lib/consumer/handler-steps.js';
import { type Handle, MessageRunner } from '../../lib/consumer/message-runner.js';
import { HANDLED, Outcomes } from '../../lib/consumer/outcomes.js';
import { RetryPolicy } from '../../lib/consumer/retry-policy.js';
import { UnknownTypes } from '../../lib/consumer/unknown-types.js';
import type { DelayQueueObserver } from '../../lib/message/delay-queue-observer.js';
import { Observers } from '../../lib/observers/observers.js';
import { nativeCodec } from '../../lib/message/codec/native-codec.js';
import type { DelayedMessage } from '../../lib/message/message.js';
import { NO_TYPE } from '../../lib/message/message-id.js';
import { resolveQueueOptions } from '../../lib/options/resolve-options.js';
import { newDelivery, newLease } from '../support/deliveries.js';
import { LoggedEvents } from '../support/logged-events.js';
import { ManualClock } from '../support/manual-clock.js';

const LEASE = 3000;

describe('MessageRunner', () => {
  let clock: ManualClock;
  let handled: string[];

  beforeEach(() => {
    clock = new ManualClock();
    handled = [];
  });

  /** @param stepsTo - gives the steps of a message to the call of its handler */
  function newRunner(stepsTo: (call: Handle, parts: StepParts) => Handle): MessageRunner {
    const events = new LoggedEvents();
    const options = resolveQueueOptions({});
    const outcomes = new Outcomes({ ...options, codec: nativeCodec, clock, events });
    const rules = { check: undefined, retryPolicy: new RetryPolicy(options, events), timeout: null };
    const parts = { rules, outcomes, clock };
    const call = (_payload: unknown, { id }: DelayedMessage) => void handled.push(id);
    return new MessageRunner({
      codec: nativeCodec,
      handles: new Map([[NO_TYPE, stepsTo(callStep(call, parts), parts)]]),
      unknownTypes: new UnknownTypes({ grace: options.unknownTypeGrace, events }),
      outcomes,
    });
  }

  const observersWith = (observer: Partial<DelayQueueObserver>): Observers => {
    const observers = new Observers(new LoggedEvents(), clock);
    observers.add(observer, 'Slow');
    return observers;
  };

  describe.each<[string, (wait: number) => MessageRunner]>([
    [
      'an observer',
      (wait) => {
        const { handle } = observersWith({ handle: (_message, next) => clock.sleep(wait).then(() => next()) });
        return newRunner((call, parts) => observeStep(handle!, parts, call));
      },
    ],
    [
      'its schema',
      (wait) => {
        const stored = () => clock.sleep(wait).then(() => ({ value: 1 }));
        return newRunner((call, parts) => checkStep({ stored, encoded: () => undefined }, parts, call));
      },
    ],
    [
      'a free call',
      (wait) =>
        newRunner((call, { outcomes }) => {
          const batches = new Batches({ concurrency: 1, groupConcurrency: null, outcomes });
          void batches.waitStep(() => clock.sleep(wait).then(() => HANDLED))(newDelivery('slow'));
          return batches.waitStep(call);
        }),
    ],
  ])('with a message that waits for %s', (_, newSlowRunner) => {
    it.each([
      ['calls the handler if the wait ends before the lease', LEASE - 1, ['m'], 'ack'],
      ['does not call the handler once the lease may have ended', LEASE, [], 'release'],
    ])('%s', async (__, wait, ids, kind) => {
      const runner = newSlowRunner(wait);
      const lease = newLease('t', clock.monotonic() + LEASE);
      const outcome = runner.run(newDelivery('m', { body: Buffer.from('J1') }, lease));
      await clock.advance(LEASE);
      expect(await outcome).toEqual({ kind });
      expect(handled).toEqual(ids);
    });
  });
});
