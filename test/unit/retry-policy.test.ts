import { describe, expect, it } from '@jest/globals';
import { RetryPolicy } from '../../lib/consumer/retry-policy.js';
import { DelayQueueError } from '../../lib/message/delay-queue-errors.js';
import type { BackoffOptions } from '../../lib/options/queue-options.js';
import { resolveQueueOptions } from '../../lib/options/resolve-options.js';
import { DeferMessage, RetryMessage } from '../../lib/message/handler-results.js';
import type { Retries } from '../../lib/message/retries.js';
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

describe('a message with its own attempts and backoff', () => {
  const options = resolveQueueOptions({ attempts: 3, backoff: { type: 'fixed', delay: 700 } });
  const outcomeOf = (attempt: number, own: Retries) =>
    new RetryPolicy(options, new LoggedEvents(), () => 0.5).outcomeOf(new Error('x'), attempt, own);

  it('dies with its own last attempt', () => {
    expect(outcomeOf(1, { attempts: 1 })).toMatchObject({ kind: 'dead', by: 'handler' });
    expect(outcomeOf(3, { attempts: 4 })).toEqual({ kind: 'retry', delay: 700 });
    expect(outcomeOf(4, { attempts: 4 })).toMatchObject({ kind: 'dead' });
  });

  it('waits as its own backoff says, for as many attempts as its queue allows', () => {
    const backoff = { type: 'exponential', delay: 10, factor: 3, maxDelay: 1000, jitter: 0 } as const;
    expect(outcomeOf(2, { backoff })).toEqual({ kind: 'retry', delay: 30 });
    expect(outcomeOf(3, { backoff })).toMatchObject({ kind: 'dead' });
  });
});

describe('a retry', () => {
  const outcomeOf = (thrown: unknown, attempt = 1) => {
    const events = new LoggedEvents();
    const options = resolveQueueOptions({ attempts: 2, backoff: { type: 'fixed', delay: 700 } });
    const backoff = { type: 'fixed', delay: 5, jitter: 0 } as const;
    return { outcome: new RetryPolicy(options, events).outcomeOf(thrown, attempt, { backoff }), lines: events.lines };
  };

  it('waits for the given time instead of any backoff, to the millisecond', () => {
    expect(outcomeOf(new RetryMessage('2m')).outcome).toEqual({ kind: 'retry', delay: 120_000 });
    expect(outcomeOf(new RetryMessage(0)).outcome).toEqual({ kind: 'retry', delay: 0 });
  });

  it('becomes a dead letter at the last attempt, with the cause', () => {
    const { outcome } = outcomeOf(new RetryMessage('2m', { cause: new TypeError('busy') }), 2);
    expect(outcome).toMatchObject({ kind: 'dead', by: 'handler' });
    const failure = JSON.parse((outcome as { error: string }).error) as object;
    expect(failure).toMatchObject({ name: 'RetryMessage', message: expect.stringContaining('TypeError: busy') });
  });

  it.each(Object.keys(ODD_VALUES).filter((what) => what.includes('RetryMessage')))(
    'waits for the backoff and is logged if it is malformed: %s',
    (what) => {
      const { outcome, lines } = outcomeOf(ODD_VALUES[what]!());
      expect(outcome).toEqual({ kind: 'retry', delay: 5 });
      expect(lines.join('\n')).toContain('A RetryMessage is invalid');
    },
  );

  it('cannot be created with an invalid delay', () => {
    expect(() => new RetryMessage('soon' as never)).toThrow(DelayQueueError);
    expect(() => new RetryMessage(-1)).toThrow(DelayQueueError);
  });
});
