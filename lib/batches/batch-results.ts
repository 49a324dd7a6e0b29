import { types } from 'node:util';
import { isDecision } from '../message/handler-results.js';
import { isInstance } from '../message/failure.js';

export type BatchResult = { readonly value: unknown } | { readonly error: unknown };

/** Thrown if a batch handler has reported failures, but not which messages they belong to. */
class BatchResultMismatch extends Error {
  override readonly name = 'BatchResultMismatch';
}

/**
 * Reads a batch handler's return value: a result for each message (an array of the batch's length), or one for all. A result that is an
 * error, or a rejected result of `Promise.allSettled`, is a failure. Never throws: an unreadable result counts as failed. If the array
 * contains promises, returns a promise that awaits each of them and never rejects.
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

export function forAll(size: number, result: BatchResult): BatchResult[] {
  return Array.from({ length: size }, () => result);
}

function assign(results: BatchResult[], size: number): BatchResult[] {
  if (results.length === size) return results;
  // An array of another length, such as rows written to a database, is ignored, but failures and decisions in it must not be lost.
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

/** True for a result of `Promise.allSettled`. A database row may also have a column `status`, but hardly any has exactly these keys. */
function isSettledResult(value: unknown): value is PromiseSettledResult<unknown> {
  if (typeof value !== 'object' || value === null || !isPlain(value)) return false;
  const { status } = value as { readonly status?: unknown };
  if (status !== 'fulfilled' && status !== 'rejected') return false;
  return Reflect.ownKeys(value).length === 2 && Object.hasOwn(value, status === 'rejected' ? 'reason' : 'value');
}

/** True for a plain object, even one from another realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== null && Object.getPrototypeOf(prototype) === null;
}

/** True for a promise. Also true if reading `then` throws, because awaiting the value would throw, too. */
function isThenable(value: unknown): boolean {
  try {
    return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
  } catch {
    return true;
  }
}
