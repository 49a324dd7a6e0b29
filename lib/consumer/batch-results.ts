import { types } from 'node:util';
import { Again } from '../message/handler-results.js';
import { isInstance } from '../message/failure.js';

/** What a handler says of one message of its batch. */
export type BatchResult = { readonly value: unknown } | { readonly error: unknown };

/** A handler that says of some messages that they failed, but not of which. */
class BatchResultMismatch extends Error {
  override readonly name = 'BatchResultMismatch';
}

/**
 * Reads what a handler of batches returned: a result for each message (an array of the batch's length), or one for all. A result
 * that is an error, or a rejected one of `Promise.allSettled`, is a failure. Never throws: what cannot be read has failed.
 */
export function readBatchResults(returned: unknown, size: number): BatchResult[] {
  try {
    return Array.isArray(returned) ? readArray(returned, size) : forAll(size, { value: returned });
  } catch (error) {
    return forAll(size, { error });
  }
}

/** The same result for every message. */
export function forAll(size: number, result: BatchResult): BatchResult[] {
  return Array.from({ length: size }, () => result);
}

function readArray(returned: readonly unknown[], size: number): BatchResult[] {
  const results = Array.from(returned, readResult);
  if (results.length === size) return results;
  // An array that is no answer of ours, such as what the handler wrote to a database, says nothing; failures must not get lost.
  const isAnswer = results.some((result) => 'error' in result || isInstance(result.value, Again));
  if (!isAnswer) return forAll(size, { value: undefined });
  const error = new BatchResultMismatch(`The handler returned ${results.length} results for ${size} messages`);
  return forAll(size, { error });
}

function readResult(result: unknown): BatchResult {
  if (types.isNativeError(result) || isInstance(result, Error)) return { error: result };
  const { status, reason, value } = (result ?? {}) as Partial<PromiseRejectedResult & PromiseFulfilledResult<unknown>>;
  if ((status as string) === 'rejected') return { error: reason };
  return { value: (status as string) === 'fulfilled' ? value : result };
}
