import { isDeepStrictEqual } from 'node:util';
import { DelayQueueError, type DelayQueueErrorCode } from '../../lib/message/delay-queue-errors.js';

/** Code that reads bytes from Redis, a file or a database. */
export interface Target {
  readonly name: string;
  /** Valid inputs of each kind. They are mutated. */
  readonly samples: readonly Buffer[];
  /** Throws if the code breaks a rule with this input. */
  readonly check: (input: Buffer) => void | Promise<void>;
}

/** The rule that an input breaks. */
export class BrokenRule extends Error {}

/** Calls code that may refuse its input. Returns undefined if it does so by the documented error. */
export function orRefused<Value>(code: DelayQueueErrorCode, read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof DelayQueueError && error.code === code) return undefined;
    throw error;
  }
}

export function expectSame(what: string, actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new BrokenRule(`${what} does not come back as it was`);
}
