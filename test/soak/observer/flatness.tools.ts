import { describe, expect, test } from '@jest/globals';
import { findTrends } from './flatness.js';
import type { Sample } from './sample.js';

const MEBIBYTE = 1024 * 1024;
const LIMITS = { from: 15_000, seconds: 300, recovery: 5000, connections: 20 };

type Look = (minute: number, second: number) => Partial<Sample>;

/** One sample for each second. */
function samples(look: Look): Sample[] {
  return Array.from({ length: 300 }, (_, second) => ({
    at: LIMITS.from + second * 1000,
    usedMemory: 10 * MEBIBYTE,
    connections: 20,
    stored: 0,
    rss: { 1: 100 * MEBIBYTE },
    ...look(Math.floor(second / 60), second % 60),
  }));
}

const grown = (look: Look) =>
  findTrends(samples(look), LIMITS)?.flatMap(({ what, last, bound }) => (last > bound ? [what] : []));

describe('a trend', () => {
  test('is flat if nothing grows', () => {
    expect(grown(() => ({}))).toEqual([]);
  });

  test('is flat if something rises only during faults', () => {
    expect(grown((_minute, second) => ({ connections: second < 45 ? 40 : 20 }))).toEqual([]);
  });

  test.each([
    ['memory of Redis', (minute: number) => ({ usedMemory: (10 + 10 * minute) * MEBIBYTE })],
    ['connections', (minute: number) => ({ connections: 20 + minute })],
    ['memory of process 1', (minute: number) => ({ rss: { 1: (100 + 60 * minute) * MEBIBYTE } })],
  ])('is not flat if something grows from one calm period to the next: %s', (what, look) => {
    expect(grown(look)).toEqual([what]);
  });

  test('is unknown if a run is too short for two calm periods', () => {
    expect(findTrends(samples(() => ({})).slice(0, 60), { ...LIMITS, seconds: 60 })).toBeUndefined();
  });
});
