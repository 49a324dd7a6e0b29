import { beforeEach, describe, expect, it } from '@jest/globals';
import { DelayQueueError } from '../../lib/message/delay-queue-errors.js';
import { connectionFailures, FailureStreak } from '../../lib/events/failure-streak.js';
import { ManualClock } from '../support/manual-clock.js';
import { ODD_VALUES } from '../support/odd-values.js';
import { LoggedEvents } from '../support/logged-events.js';

const MINUTE = 60_000;
const RETRIED = 'retrying until it works';

describe('the log of repeated failures', () => {
  let clock: ManualClock;
  let events: LoggedEvents;
  let streak: FailureStreak;

  beforeEach(() => {
    clock = new ManualClock();
    events = new LoggedEvents();
    streak = new FailureStreak(clock, connectionFailures(events, 'commands'));
  });

  async function failFor(duration: number, reason: string) {
    for (let passed = 0; passed < duration; passed += 250) {
      streak.failed(reason);
      await clock.advance(250);
    }
  }

  it('has a line at the start, one a minute while failures last, and one at the end', async () => {
    await failFor(2.5 * MINUTE, 'ECONNREFUSED');
    streak.worked();
    streak.worked();
    expect(events.lines).toEqual([
      `error Redis connection for commands is down: ECONNREFUSED; ${RETRIED}`,
      `error Redis connection for commands is down for 1 minute now: ECONNREFUSED; ${RETRIED}`,
      `error Redis connection for commands is down for 2 minutes now: ECONNREFUSED; ${RETRIED}`,
      'log Redis connection for commands is back after 3 minutes',
    ]);
  });

  it('has separate lines for each streak, however soon it follows the last one', () => {
    for (let times = 0; times < 2; times++) {
      streak.failed('ECONNREFUSED');
      streak.worked();
    }
    const lines = [
      `error Redis connection for commands is down: ECONNREFUSED; ${RETRIED}`,
      'log Redis connection for commands is back',
    ];
    expect(events.lines).toEqual([...lines, ...lines]);
  });

  it('reports a different error at once, and each error only once', async () => {
    for (let times = 0; times < 20; times++) {
      await failFor(1000, `connect ECONNREFUSED 127.0.0.1:${6000 + times}`);
      await failFor(1000, 'WRONGPASS');
    }
    expect(events.lines).toEqual([
      `error Redis connection for commands is down: connect ECONNREFUSED 127.0.0.1:6000; ${RETRIED}`,
      `error Redis connection for commands is down: WRONGPASS; ${RETRIED}`,
    ]);
  });

  it('reports another error only once, even if it occurs when a reminder is due', async () => {
    await failFor(MINUTE, 'ECONNREFUSED');
    await failFor(1000, 'WRONGPASS');
    expect(events.lines).toHaveLength(2);
  });

  it('does not grow with the number of errors', () => {
    for (let times = 0; times < 1000; times++) streak.failed('x'.repeat(times));
    expect(events.lines).toHaveLength(5);
  });

  it('leaves reports of a lost connection to the connection itself', () => {
    for (const code of ['NOT_CONNECTED', 'LOGIN_REFUSED', 'OUTCOME_UNKNOWN', 'STORE_REFUSED'] as const) {
      streak.callFailed(new DelayQueueError(code, code));
    }
    expect(events.lines).toEqual([
      `error Redis connection for commands is down: DelayQueueError: STORE_REFUSED; ${RETRIED}`,
    ]);
  });

  it.each(Object.entries(ODD_VALUES))('has a line even for %s', (_what, make) => {
    streak.callFailed(make());
    expect(events.lines).toHaveLength(1);
  });
});
