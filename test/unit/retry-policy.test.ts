import { describe, expect, it } from '@jest/globals';
import { RetryPolicy } from '../../lib/consumer/retry-policy.js';
import { DelayQueueError } from '../../lib/message/delay-queue-errors.js';
import type { BackoffOptions } from '../../lib/options/queue-options.js';
import { resolveQueueOptions } from '../../lib/options/resolve-options.js';
import { DeferMessage } from '../../lib/message/handler-results.js';
import { ODD_VALUES } from '../support/odd-values.js';
import { LoggedEvents } from '../support/logged-events.js';

function policy(backoff?: BackoffOptions, random = 0.5) {
  const events = new LoggedEvents();
  const options = resolveQueueOptions({ attempts: 1000, ...(backoff && { backoff }) });
  return { events, delay: (attempt: number) => delayOf(new RetryPolicy(options, events, () => random), attempt) };
}

function delayOf(retryPolicy: RetryPolicy, attempt: number): number {
  const outcome = retryPolicy.outcomeOf(new Error('x'), attempt);
  if (outcome.kind !== 'retry') throw new Error(`not a retry but ${outcome.kind}`);
  return outcome.delay;
}

describe('the backoff', () => {
  it('doubles from a second to an hour by default', () => {
    const { delay } = policy();
    expect([1, 2, 3, 12, 13, 999].map(delay)).toEqual([1000, 2000, 4000, 2_048_000, 3_600_000, 3_600_000]);
  });

  it('varies by its jitter in both directions', () => {
    expect(policy(undefined, 0).delay(1)).toBe(800);
    expect(policy(undefined, 0.999999).delay(1)).toBe(1200);
  });

  it('is the same after each attempt if it is fixed', () => {
    const { delay } = policy({ type: 'fixed', delay: '3s' });
    expect([1, 2, 50].map(delay)).toEqual([3000, 3000, 3000]);
  });

  it('stays zero after any number of attempts if its delay is zero', () => {
    expect(policy({ type: 'exponential', delay: 0, factor: 100 }).delay(999)).toBe(0);
  });

  it('can be a function of the attempt', () => {
    expect(policy((attempt) => `${attempt}m`).delay(3)).toBe(180_000);
  });

  it.each<[string, () => never]>([
    [
      'throws',
      () => {
        throw new Error('oops');
      },
    ],
    ['returns no duration', () => 'soon' as never],
  ])('falls back to the default if a function %s, and logs the mistake', (_how, mistaken) => {
    const { delay, events } = policy(mistaken);
    expect(delay(1)).toBe(1000);
    expect(events.lines.join('\n')).toContain('the default backoff is used');
  });
});

describe('a deferral', () => {
  const outcomeOf = (thrown: unknown) => {
    const events = new LoggedEvents();
    const options = resolveQueueOptions({ attempts: 2, backoff: { type: 'fixed', delay: 700 } });
    return { outcome: new RetryPolicy(options, events).outcomeOf(thrown, 1), lines: events.lines };
  };

  it('delays the message by the given time', () => {
    expect(outcomeOf(new DeferMessage('3s')).outcome).toEqual({ kind: 'defer', delay: 3000 });
  });

  it.each(Object.keys(ODD_VALUES).filter((what) => what.includes('DeferMessage')))(
    'counts as a failed attempt and is logged if it is malformed: %s',
    (what) => {
      const { outcome, lines } = outcomeOf(ODD_VALUES[what]!());
      expect(outcome).toEqual({ kind: 'retry', delay: 700 });
      expect(lines.join('\n')).toContain('counts as a failed attempt');
    },
  );

  it('cannot be created with an invalid delay', () => {
    expect(() => new DeferMessage('soon' as never)).toThrow(DelayQueueError);
    expect(() => new DeferMessage(Symbol('1s') as never)).toThrow(DelayQueueError);
  });
});
