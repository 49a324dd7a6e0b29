import { types } from 'node:util';
import { DelayQueueError } from 'nestjs-delay-queue';
import type { RowBody } from '../table/row.js';

/** A nesting depth beyond that of real data. */
const DEEP = 500;

/** Objects whose contents JSON would omit. */
const LOSSES: readonly (readonly [is: (value: object) => boolean, what: string, advice: string])[] = [
  [types.isPromise, 'a Promise', 'await it first'],
  [types.isMap, 'a Map', 'offer Object.fromEntries(map)'],
  [types.isSet, 'a Set', 'offer [...set]'],
  [types.isNativeError, 'an Error', 'offer { name: error.name, message: error.message }'],
  [types.isRegExp, 'a RegExp', 'offer its text'],
  [types.isDate, 'an invalid Date', 'offer null'],
  [types.isAnyArrayBuffer, 'an ArrayBuffer', 'offer base64 text, or a Buffer as the whole payload'],
  [types.isArrayBufferView, 'an ArrayBuffer view', 'offer base64 text, or a Buffer as the whole payload'],
];

/**
 * Makes the part of a row's body that has the payload.
 * @throws DelayQueueError `INVALID_PAYLOAD`, naming the path of what JSON would change or omit
 */
export function encodePayload(payload: unknown): Pick<RowBody, 'payload' | 'base64'> {
  if (Buffer.isBuffer(payload)) return { base64: payload.toString('base64') };
  try {
    const copy = copyOf(payload, []);
    if (copy === undefined) throw refusal([], 'undefined', 'offer plain data, or null for no payload');
    return { payload: copy };
  } catch (cause) {
    if (cause instanceof DelayQueueError) throw cause;
    const problem = `payload: it cannot be read (${String(cause)}); offer plain data`;
    throw new DelayQueueError('INVALID_PAYLOAD', problem, { cause });
  }
}

/** Copies what JSON would write, so that exactly what was checked is written; undefined for what JSON omits. */
function copyOf(given: unknown, path: readonly (string | number)[], within: readonly object[] = []): unknown {
  const value = jsonValueOf(given, path.at(-1) ?? '');
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || value === undefined) return value;
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return value;
    throw refusal(path, String(value), 'offer null, or text');
  }
  if (typeof value === 'bigint') throw refusal(path, 'a BigInt', 'offer it as text');
  if (typeof value !== 'object') throw refusal(path, `a ${typeof value}`, 'leave it out');
  if (within.includes(value)) throw refusal(path, 'a cycle', 'offer plain data');
  if (within.length > DEEP) throw refusal(path.slice(0, 5), 'so deep a nesting', 'offer plain data');
  const inside = [...within, value];
  if (Array.isArray(value)) {
    const field = Object.keys(value).find((key) => !(Number(key) < value.length && String(Number(key) >>> 0) === key));
    if (field !== undefined)
      throw refusal(path, `the field '${field}' of a list`, 'offer [...list], or an object with both');
    return Array.from(value, (element, i) => elementOf(element, [...path, i], inside));
  }
  const loss = LOSSES.find(([is]) => is(value));
  if (loss) throw refusal(path, loss[1], loss[2]);
  const fields = Object.entries(value).map(([key, field]) => [key, copyOf(field, [...path, key], inside)] as const);
  if (fields.length === 0 && !isLiteral(value)) {
    throw refusal(path, 'an instance of a class without fields', 'offer a plain object, or give its class a toJSON()');
  }
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
}

function elementOf(element: unknown, path: readonly (string | number)[], within: readonly object[]): unknown {
  const copy = copyOf(element, path, within);
  if (copy === undefined) throw refusal(path, 'undefined in a list', 'offer null');
  return copy;
}

function jsonValueOf(value: unknown, key: string | number): unknown {
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value;
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return value.valueOf();
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON !== 'function' || (types.isDate(value) && Number.isNaN(value.getTime()))) return value;
  return Reflect.apply(toJSON, value, [String(key)]);
}

function isLiteral(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function refusal(path: readonly (string | number)[], what: string, advice: string): DelayQueueError {
  const place = `payload${path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')}`;
  return new DelayQueueError('INVALID_PAYLOAD', `${place}: JSON cannot represent ${what}; ${advice}`);
}
