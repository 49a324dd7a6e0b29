import { describe, expect, it } from '@jest/globals';
import { ODD_VALUES } from '../support/odd-values.js';
import { MAX_DELAY, parseDuration } from '../../lib/message/duration.js';

const anyDelay = { min: 0, max: MAX_DELAY };

describe('a duration', () => {
  it.each([
    [0, 0],
    [2 ** 31, 2 ** 31],
    ['250ms', 250],
    ['1.5s', 1500],
    ['30s', 30_000],
    ['10 minutes', 600_000],
    ['2h', 7_200_000],
    ['10y', 315_576_000_000],
    ['100', 100],
    ['100y', MAX_DELAY],
    ['.5h', 1_800_000],
    ['1H', 3_600_000],
    ['5 Min', 300_000],
    ['30 MINUTES', 1_800_000],
    ['1 Y', 31_557_600_000],
    [MAX_DELAY, MAX_DELAY],
  ])('%j is %d ms', (value, milliseconds) => {
    expect(parseDuration(value, anyDelay)).toEqual({ milliseconds });
  });

  it.each([
    -1,
    NaN,
    1.5,
    Infinity,
    2 ** 53,
    '',
    '5 parsecs',
    '-1s',
    '0.5ms',
    MAX_DELAY + 1,
    '101y',
    'x'.repeat(200),
    null,
    undefined,
    {},
    true,
    5n,
    ' ',
    '5s\n',
    ' 5s',
    '1m ',
    '1M',
    '1 M',
    '1.5M',
    '1 mo',
    '1mon',
    '1 month',
    '1h30m',
    '1e3',
    '1_000',
    '0x10',
    'PT1H',
    Symbol('5s'),
    new String('5s'),
  ])('%p is rejected', (value) => {
    expect(parseDuration(value, anyDelay)).toHaveProperty('problem');
  });

  it.each(
    Object.entries({
      ...ODD_VALUES,
      'an object without a prototype': () => Object.create(null) as unknown,
      'an object with a value': () => ({ valueOf: () => 5 }),
    }),
  )('is not %s', (_, make) => {
    expect(parseDuration(make(), anyDelay)).toHaveProperty(
      'problem',
      expect.stringMatching(/is not a duration.*, not \S/),
    );
  });

  it.each(['1M', '1 mo', '5 parsecs', ''])('is rejected with an error that lists the accepted units: %p', (value) => {
    expect(parseDuration(value, anyDelay)).toEqual({
      problem: expect.stringContaining(`with one of the units ms, s, m (minutes), h, d, w, y, not '${value}'`),
    });
  });

  it.each([
    ['30', { min: 1000, max: 86_400_000 }, "must be between 1 s and 24 h, not '30', which is 30 ms: add a unit"],
    ['2h', { min: 1, max: 600_000 }, "must be between 1 ms and 10 min, not '2h'"],
    [-1, anyDelay, 'must be between 0 ms and 100 years, not -1'],
    [1, { min: 1500, max: 2000 }, 'must be between 1500 ms and 2 s, not 1'],
  ])('is rejected with an error that gives the range in readable units: %j', (value, range, problem) => {
    expect(parseDuration(value, range)).toEqual({ problem });
  });

  it('is accepted at both ends of its range and rejected outside it', () => {
    const range = { min: 10, max: 20 };
    expect([9, 10, 20, 21].map((value) => 'milliseconds' in parseDuration(value, range))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});
