import { isDeepStrictEqual } from 'node:util';
import { expect } from '@jest/globals';

/** For what is compared many thousand times: jest's `expect` takes its time even where there is nothing to tell. */
export function expectEqual(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
}
