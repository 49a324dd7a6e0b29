import { types } from 'node:util';
import { isDecision } from '../message/handler-results.js';
import { isInstance } from '../message/failure.js';

/** What a handler reports for one message of its batch. */
export type BatchResult = { readonly value: unknown } | { readonly error: unknown };

/** A handler reported failures, but not which messages they belong to. */
class BatchResultMismatch extends Error {
  override readonly name = 'BatchResultMismatch';
}

/**
 * Reads what a handler of batches returned: a result for each message (an array of the batch's length), or one for all. A result
 * that is an error, or a rejected one of `Promise.allSettled`, is a failure. Never throws: what cannot be read has failed.
 *
 * @returns a promise if the array has promises, each of which is awaited; it never rejects
 */
export function readBatchResults(returned: unknown, size: number): BatchResult[] | Promise<BatchResult[]> {
  try {
    if (!Array.isArray(returned)) return forAll(size, { value: returned });
    if (!returned.some(isThenable)) return assign(Array.from(returned, readResult), size);
    return Promise.all(Array.from(returned, awaitResult)).then((results) => assign(results, size));
  } catch (error) {
    return forAll(size, { error });
  }
}

/** The same result for every message. */
export function forAll(size: number, result: BatchResult): BatchResult[] {
  return Array.from({ length: size }, () => result);
}

/** Gives each message its result. */
function assign(results: BatchResult[], size: number): BatchResult[] {
  if (results.length === size) return results;
  // Any other array, such as the rows that the handler wrote to a database, means nothing here; but failures must not get lost.
  const isAnswer = results.some((result) => 'error' in result || isDecision(result.value));
  if (!isAnswer) return forAll(size, { value: undefined });
  const error = new BatchResultMismatch(`The handler returned ${results.length} results for ${size} messages`);
  return forAll(size, { error });
}

async function awaitResult(result: unknown): Promise<BatchResult> {
  try {
    return readResult(await result);
  } catch (error) {
    return { error };
  }
}

function readResult(result: unknown): BatchResult {
  if (types.isNativeError(result) || isInstance(result, Error)) return { error: result };
  if (!isSettledResult(result)) return { value: result };
  return result.status === 'rejected' ? { error: result.reason } : { value: result.value };
}

/** True if `Promise.allSettled` made it. A row of a database may have a column `status`, too, but hardly these keys alone. */
function isSettledResult(value: unknown): value is PromiseSettledResult<unknown> {
  if (typeof value !== 'object' || value === null || !isPlain(value)) return false;
  const { status } = value as { readonly status?: unknown };
  if (status !== 'fulfilled' && status !== 'rejected') return false;
  return Reflect.ownKeys(value).length === 2 && Object.hasOwn(value, status === 'rejected' ? 'reason' : 'value');
}

/** Also true of objects of another realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== null && Object.getPrototypeOf(prototype) === null;
}

/** If reading `then` throws, awaiting the value will throw too: so it counts as thenable. */
function isThenable(value: unknown): boolean {
  try {
    return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
  } catch {
    return true;
  }
}
