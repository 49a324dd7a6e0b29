import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { calendar } from '../../lib/calendar/index.js';
import { readRule } from '../../lib/repeats/read-rule.js';
import type { RepeatRule } from '../../lib/message/repeat-rule.js';
import { RuleTimes } from '../../lib/repeats/rule-times.js';

const TIMES = new RuleTimes(calendar);
const MINUTE = 60_000;
const NOON = Date.UTC(2030, 0, 1, 12);
const at = (text: string) => Date.parse(`2030-01-${text}Z`);
const listed = (rule: RepeatRule, from: number, most = 4) =>
  TIMES.list(rule, from, most).map((time) => time.toISOString().slice(5, 19));

describe('the times of an interval', () => {
  test('have the phase of 1970, so that all processes agree', () => {
    const rule = readRule({ every: '15m' });
    expect(listed(rule, at('01T12:07:00'))).toEqual(['01-01T12:15', '01-01T12:30', '01-01T12:45', '01-01T13:00'].map((time) => `${time}:00`)); // prettier-ignore
    expect(TIMES.nextAfter(rule, NOON)).toBe(NOON + 15 * MINUTE);
    expect(TIMES.nextAfter(rule, NOON - 1)).toBe(NOON);
  });

  test('begin at startsAt, and end at endsAt, both included', () => {
    const rule = readRule({
      every: '15m',
      startsAt: new Date(NOON + 1234),
      endsAt: new Date(NOON + 1234 + 30 * MINUTE),
    });
    const expected = ['01-01T12:00:01', '01-01T12:15:01', '01-01T12:30:01'];
    expect(listed(rule, 0)).toEqual(expected);
    expect(listed(rule, NOON)).toEqual(expected);
    expect(listed(rule, NOON + 1234)).toEqual(expected.slice(1));
    expect(TIMES.nextAfter(rule, NOON + 1234 + 30 * MINUTE)).toBeNull();
  });

  test('need no calendar, unlike those of a cron', () => {
    const none = new RuleTimes(undefined);
    expect(none.nextAfter(readRule({ every: 1000 }), NOON)).toBe(NOON + 1000);
    expect(() => none.nextAfter(readRule({ cron: '* * * * *' }), NOON)).toThrow('calendar: a rule with cron needs one');
  });

  test('neither drift nor come twice, wherever one looks', () => {
    const rules = fc.record({ every: fc.integer({ min: 1000, max: 1e9 }), phase: fc.integer({ min: 0, max: 2e12 }) });
    fc.assert(
      fc.property(rules, fc.integer({ min: 0, max: 4e12 }), ({ every, phase }, from) => {
        const next = TIMES.nextAfter({ every, missed: 'once', startsAt: new Date(phase) }, from)!;
        expect((next - phase) % every).toBe(0);
        expect(next).toBeGreaterThan(from);
        expect(next).toBeGreaterThanOrEqual(phase);
        expect(next - every <= from || next === phase).toBe(true);
      }),
    );
  });
});

describe('the times of a calendar', () => {
  test('are within startsAt and endsAt, both included', () => {
    const rule = readRule({
      cron: '0 9 * * *',
      startsAt: new Date(at('05T09:00:00')),
      endsAt: new Date(at('07T09:00:00')),
    });
    expect(listed(rule, NOON)).toEqual(['01-05T09:00:00', '01-06T09:00:00', '01-07T09:00:00']);
    const later = readRule({ cron: '0 9 * * *', startsAt: new Date(at('05T09:00:00') + 1) });
    expect(listed(later, NOON, 1)).toEqual(['01-06T09:00:00']);
  });

  test('are as many as the limit leaves', () => {
    const rule = readRule({ cron: '0 9 * * *', limit: 3 });
    expect(listed({ ...rule, count: 1 } as RepeatRule, NOON)).toHaveLength(2);
    expect(listed({ ...rule, count: 3 } as RepeatRule, NOON)).toEqual([]);
  });
});

describe('a rule', () => {
  test.each<[object, string]>([
    [{}, 'a rule must have either cron'],
    [{ cron: '* * * * *', every: '1h' }, 'it has both'],
    [{ every: '1h', timeZone: 'UTC' }, 'timeZone goes with cron'],
    [{ every: '999ms' }, 'every must be between 1 s and 100 years'],
    [{ every: 'often' }, 'every is not a duration'],
    [{ every: '1h', missed: 'all' }, "missed must be 'once', 'skip' or 'each'"],
    [{ every: '1h', catchUp: '1d' }, "catchUp goes with missed: 'each'"],
    [{ every: '1h', missed: 'each', catchUp: '1s' }, 'catchUp must be between 1 min and 100 years'],
    [{ every: '1h', limit: 0 }, 'limit must be a whole number from 1'],
    [{ every: '1h', limit: '3' }, 'limit must be a whole number from 1'],
    [{ every: '1h', startsAt: '2030' }, 'startsAt must be a valid Date'],
    [{ every: '1h', endsAt: new Date(NaN) }, 'endsAt must be a valid Date'],
    [{ every: '1h', startsAt: new Date(2), endsAt: new Date(1) }, 'endsAt must not be before startsAt'],
  ])('is refused if it is %j', (given, problem) => {
    expect(() => readRule(given)).toThrow(problem);
  });

  test('has as many missed occurrences made up for as catchUp says, by default those of a day', () => {
    expect(readRule({ every: '1h', missed: 'each' })).toEqual({
      every: 3_600_000,
      missed: 'each',
      catchUp: 86_400_000,
    });
  });
});
