import { isDeepStrictEqual } from 'node:util';
import { expect } from '@jest/globals';

/** For thousands of comparisons: jest's `expect` is slow even if both are equal. */
export function expectEqual(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
}
