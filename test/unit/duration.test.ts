import { describe, expect, it } from '@jest/globals';
import { ODD_VALUES } from '../support/odd-values.js';
import { LONGEST_DELAY, parseDuration } from '../../lib/message/duration.js';

const anyDelay = { min: 0, max: LONGEST_DELAY };

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
    ['100y', LONGEST_DELAY],
    [LONGEST_DELAY, LONGEST_DELAY],
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
    LONGEST_DELAY + 1,
    '101y',
    'x'.repeat(200),
    null,
    undefined,
    {},
    true,
    5n,
    ' ',
    '5s\n',
    Symbol('5s'),
    new String('5s'),
  ])('%p is refused', (value) => {
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

  it('is refused outside its range, which includes both ends', () => {
    const range = { min: 10, max: 20 };
    expect([9, 10, 20, 21].map((value) => 'milliseconds' in parseDuration(value, range))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});
