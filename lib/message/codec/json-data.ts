import { types } from 'node:util';
import { showFailure } from '../failure.js';
import { DelayQueueError } from '../delay-queue-errors.js';
import { type Copied, JsonCopy, type Keeps } from './json-copy.js';
import { isDataClass } from './json-loss.js';

/** How many values the quick check visits. Beyond that, {@link JsonCopy} takes over, which visits shared objects only once. */
const MANY = 100_000;

interface DataRules {
  /** True for a value that `write` can represent although JSON cannot. */
  readonly keeps?: Keeps;
  /** See {@link Copied}. */
  readonly copied?: Copied;
}

const keepsNothing: Keeps = () => false;

/**
 * Writes a payload as JSON, but refuses what `JSON.stringify` would silently change: after a forgotten `await`, a promise would become
 * `{}`, and `NaN` becomes null. As usual, the result of `toJSON()` replaces its object, and undefined properties are omitted.
 * @param write - gets plain data: the payload itself or, if that is not obviously plain, a checked copy
 * @throws DelayQueueError `INVALID_PAYLOAD`, naming the path of the part that cannot be written
 */
export function writeJsonData(
  payload: unknown,
  write: (data: unknown) => string | undefined,
  { keeps = keepsNothing, copied }: DataRules = {},
): string {
  const data = isPlain(payload) ? payload : new JsonCopy(keeps, copied).make(payload);
  let json: string | undefined;
  try {
    json = write(data);
  } catch (cause) {
    if (cause instanceof DelayQueueError) throw cause;
    const problem = `payload: it cannot be written as JSON (${showFailure(cause)}); offer plain data that is not too deep or too large`;
    throw new DelayQueueError('INVALID_PAYLOAD', problem, { cause });
  }
  if (json === undefined)
    throw new DelayQueueError('INVALID_PAYLOAD', 'payload: it changes while it is being read; offer plain data');
  return json;
}

let valuesLeft = 0;

/** True if a payload is obviously plain data, as most payloads are. False if reading it throws. */
function isPlain(payload: unknown): boolean {
  valuesLeft = MANY;
  try {
    return isPlainValue(payload);
  } catch {
    return false;
  }
}

function isPlainValue(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object':
      return value === null || isPlainObject(value);
    default:
      return false;
  }
}

function isPlainObject(value: object): boolean {
  if (--valuesLeft < 0) return false;
  if ((value as { toJSON?: unknown }).toJSON !== undefined) return isPlainDate(value);
  if (Array.isArray(value)) {
    if ((valuesLeft -= value.length) < 0) return false;
    // If there are more values than elements, the list has other fields. Values are much cheaper to get than names.
    if (Object.values(value).length !== value.length) return false;
    // eslint-disable-next-line @typescript-eslint/prefer-for-of -- as JSON reads it; an iterator may yield something else
    for (let i = 0; i < value.length; i++) if (!isPlainValue(value[i])) return false;
    return true;
  }
  const prototype = Object.getPrototypeOf(value) as object | null;
  const isLiteral = prototype === Object.prototype || prototype === null;
  if (!isLiteral && !isDataClass(prototype)) return false;
  let isEmpty = true;
  for (const key in value) {
    const field = (value as Record<string, unknown>)[key];
    if (field !== undefined && !isPlainValue(field)) return false;
    isEmpty = false;
  }
  // An empty instance of a class may hold something that JSON cannot see.
  return !isEmpty || isLiteral;
}

/** True for an ordinary `Date`, which JSON writes as text. */
function isPlainDate(value: object): boolean {
  const isOwn = types.isDate(value) && Object.getPrototypeOf(value) === Date.prototype;
  return isOwn && !Number.isNaN(value.getTime()) && Reflect.ownKeys(value).length === 0;
}
