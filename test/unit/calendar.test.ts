import { afterEach, beforeEach, describe, expect, it, jest, test } from '@jest/globals';
import { Temporal } from 'temporal-polyfill';
import { next } from '../../lib/calendar/index.js';
import { isThorough } from '../support/thorough.js';

const ZONES = [
  'Europe/Berlin',
  'Europe/London',
  'America/New_York',
  'America/Los_Angeles',
  'America/Santiago', // in the south, at midnight
  'America/Havana', // at midnight, back at 1 a.m.
  'Asia/Beirut', // at midnight
  'Africa/Cairo', // on a Friday
  'Australia/Lord_Howe', // by half an hour
  'Pacific/Auckland',
];
const QUARTER = 900_000;
const HOUR = 4 * QUARTER;
const DAY = 24 * HOUR;
/** The time checked before and after each transition. */
const AROUND = 0.6 * DAY;
const FIRST = Temporal.Instant.from('2025-01-01T00:00:00Z');
const LAST = Temporal.Instant.from('2041-01-01T00:00:00Z');

interface Transition {
  readonly at: number;
  readonly before: Temporal.ZonedDateTime;
  readonly after: Temporal.ZonedDateTime;
}

/** Every change of the clocks in a zone from 2025 to 2040. */
function transitionsOf(zone: string): Transition[] {
  const found: Transition[] = [];
  let time = FIRST.toZonedDateTimeISO(zone).getTimeZoneTransition('next');
  for (; time && Temporal.Instant.compare(time.toInstant(), LAST) < 0; time = time.getTimeZoneTransition('next')) {
    const before = time.toInstant().subtract({ nanoseconds: 1 }).toZonedDateTimeISO(zone);
    found.push({ at: time.epochMilliseconds, before, after: time });
  }
  return found;
}

/** The times of a calendar around a transition. */
function comesAt(cron: string, zone: string, { at }: Transition): number[] {
  const times: number[] = [];
  let after = new Date(at - AROUND);
  for (;;) {
    after = next(cron, { after, timeZone: zone });
    if (after.getTime() > at + AROUND) return times;
    times.push(after.getTime());
  }
}

/** The quarter hours around a transition whose wall clock satisfies `isWanted`. */
function instantsOf(zone: string, { at }: Transition, isWanted: (wall: Temporal.ZonedDateTime) => boolean): number[] {
  const times: number[] = [];
  const first = Math.floor((at - AROUND) / QUARTER) * QUARTER;
  for (let time = first; time <= at + AROUND; time += QUARTER) {
    if (time <= at - AROUND) continue;
    if (isWanted(Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(zone))) times.push(time);
  }
  return times;
}

/** The instants around a transition at which the wall clock first shows `time`, or at which the gap around it ends. */
function dailyInstants(zone: string, { at, before, after }: Transition, time: Temporal.PlainTime): number[] {
  const days = [-2, -1, 0, 1, 2].map((days) => before.toPlainDate().add({ days }));
  const gapEnds = after.epochMilliseconds;
  const instants = days.map((day) => {
    const wall = day.toZonedDateTime({ timeZone: zone, plainTime: time });
    const isInGap = !wall.toPlainTime().equals(time);
    return isInGap ? gapEnds : wall.epochMilliseconds;
  });
  return instants.filter((instant) => instant > at - AROUND && instant <= at + AROUND);
}

describe('a calendar', () => {
  beforeEach(() => {
    jest.useFakeTimers({ now: FIRST.epochMilliseconds - DAY, doNotFake: ['nextTick', 'setImmediate', 'performance'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  test.each(isThorough ? ZONES : ZONES.slice(0, 1))('matches Temporal at clock changes in %s', (zone) => {
    // All transitions of 16 years; some zones have none after a reform.
    const all = transitionsOf(zone);
    expect(all.length).toBeGreaterThanOrEqual(2);
    const transitions = isThorough ? all : all.slice(0, 4);
    const found: unknown[] = [];
    const expected: unknown[] = [];
    for (const transition of transitions) {
      const compare = (cron: string, instants: number[]) => {
        found.push([transition.after.toString(), cron, comesAt(cron, zone, transition)]);
        expected.push([transition.after.toString(), cron, instants]);
      };
      compare(
        '*/15 * * * *',
        instantsOf(zone, transition, () => true),
      );
      compare(
        '0 * * * *',
        instantsOf(zone, transition, ({ minute }) => minute === 0),
      );
      compare(
        '30 */2 * * *',
        instantsOf(zone, transition, ({ hour, minute }) => hour % 2 === 0 && minute === 30),
      );
      for (let hour = 0; hour < 4; hour++) {
        for (const minute of [0, 15, 45]) {
          compare(`${minute} ${hour} * * *`, dailyInstants(zone, transition, new Temporal.PlainTime(hour, minute)));
        }
      }
    }
    expect(found).toEqual(expected);
  });

  it('yields times after both the given time and now', () => {
    const hourly = (after: Date) => next('0 * * * *', { after }).getTime();
    const now = Date.now();
    const future = new Date(now + 10 * DAY);
    expect(hourly(future)).toBe((Math.floor(future.getTime() / HOUR) + 1) * HOUR);
    expect(hourly(new Date(now - 10 * DAY)) - now).toBeGreaterThan(0);
    expect(hourly(new Date(now - 10 * DAY)) - now).toBeLessThanOrEqual(HOUR);
    const due = next('0 * * * *', { after: new Date() });
    expect(hourly(due) - due.getTime()).toBe(HOUR);
  });

  it('uses UTC unless a time zone is given', () => {
    const after = new Date('2035-07-01T00:00:00Z');
    expect(next('0 9 * * *', { after })).toEqual(new Date('2035-07-01T09:00:00Z'));
    expect(next('0 9 * * *', { after, timeZone: 'Asia/Tokyo' })).toEqual(new Date('2035-07-02T00:00:00Z'));
  });

  const date = new Date();
  test.each<[unknown, object, string]>([
    ['', { after: date }, "cron '' is not a valid calendar"],
    ['every day', { after: date }, "cron 'every day' is not a valid calendar"],
    ['0 25 * * *', { after: date }, 'Invalid value for hour: 25'],
    ['0 0 30 2 *', { after: date }, "cron '0 0 30 2 *' has no time after"],
    [5, { after: date }, "cron must be text such as '0 9 * * 1-5', not 5"],
    ['@daily', {}, 'after must be a valid Date, such as message.dueAt, not undefined'],
    ['@daily', { after: new Date(NaN) }, 'after must be a valid Date'],
    ['@daily', { after: date, timeZone: 'Mars/Olympus' }, "timeZone must be an IANA time zone such as 'Europe/Berlin'"],
    ['@daily', { after: date, timeZone: 5 }, 'timeZone must be an IANA time zone'],
    ['@daily', { after: date, timeZone: null }, 'timeZone must be an IANA time zone'],
  ])('rejects %j with the options %j, and says what is wrong', (cron, options, problem) => {
    expect(() => next(cron as string, options as { after: Date })).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringContaining(problem) }),
    );
  });
});
