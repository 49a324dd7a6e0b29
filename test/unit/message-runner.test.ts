import { beforeEach, describe, expect, it } from '@jest/globals';
import { CallLine } from '../../lib/batches/call-line.js';
import { MessageRunner, type MessageRunnerOptions, type Route } from '../../lib/consumer/message-runner.js';
import { Outcomes } from '../../lib/consumer/outcomes.js';
import { RetryPolicy } from '../../lib/consumer/retry-policy.js';
import { UnknownTypes } from '../../lib/consumer/unknown-types.js';
import type { DelayQueueObserver } from '../../lib/events/delay-queue-observer.js';
import { Observers } from '../../lib/events/observers.js';
import type { HandlerCall } from '../../lib/handler/delayed-message-handler.js';
import { nativeCodec } from '../../lib/message/codec/native-codec.js';
import type { DelayedMessage } from '../../lib/message/message.js';
import { NO_TYPE } from '../../lib/message/message-type.js';
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

  function newRunner(parts: Partial<MessageRunnerOptions>, route: Partial<Route> = {}): MessageRunner {
    const events = new LoggedEvents();
    const options = resolveQueueOptions({});
    const call = (_payload: unknown, { id }: DelayedMessage) => void handled.push(id);
    const common = { check: undefined, batch: undefined, timeout: null };
    const retryPolicy = new RetryPolicy(options, events);
    return new MessageRunner({
      codec: nativeCodec,
      routes: new Map([[NO_TYPE, { ...common, call: call as HandlerCall, retryPolicy, ...route }]]),
      unknownTypes: new UnknownTypes({ grace: options.unknownTypeGrace, events }),
      outcomes: new Outcomes({ ...options, codec: nativeCodec, clock, events }),
      clock,
      line: undefined,
      ...parts,
    });
  }

  const observersWith = (observer: Partial<DelayQueueObserver>): Observers => {
    const observers = new Observers(new LoggedEvents(), clock);
    observers.add(observer, 'Slow');
    return observers;
  };

  /** A line in which every call waits for so many milliseconds. */
  const slowLine = (ms: number): CallLine => {
    const line = new CallLine(1);
    line.add({ start: () => clock.sleep(ms), release: () => undefined });
    return line;
  };

  describe.each<[string, (wait: number) => MessageRunner]>([
    [
      'an observer',
      (wait) =>
        newRunner({
          observers: observersWith({
            handle: (_message, next) => clock.sleep(wait).then(() => next()),
          }),
        }),
    ],
    ['its schema', (wait) => newRunner({}, { check: () => clock.sleep(wait).then(() => ({ value: 1 })) })],
    ['the calls of batches', (wait) => newRunner({ line: slowLine(wait) })],
  ])('with a message that waits for %s', (_, newSlowRunner) => {
    it.each([
      ['calls its handler while its lease lasts', LEASE - 1, ['m'], 'ack'],
      ['does not call its handler once its lease may have ended', LEASE, [], 'release'],
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
