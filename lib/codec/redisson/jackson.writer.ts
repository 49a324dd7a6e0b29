import { types } from 'node:util';
import { CLASS, isJavasOwn } from './jackson.classes.js';
import { writeJson } from './json-text.js';

/**
 * How Jackson learns the class of a value: for a field of an application's class from its declaration, for anything else, such
 * as an element of a collection, only from a type wrapper.
 */
type Place = 'undeclared' | 'field';

const LONGEST_INT = 2 ** 31;
const LONGEST_LONG = 2n ** 63n;

/** Whether Jackson can represent a value that plain JSON cannot. */
export function isJacksons(value: unknown): boolean {
  if (typeof value === 'bigint' || types.isUint8Array(value)) return true;
  return types.isDate(value) && !Number.isNaN(Date.prototype.getTime.call(value));
}

/** Writes plain data and Jackson's own values for `JsonJacksonCodec` to read; returns undefined for undefined. */
export function writeJackson(value: unknown, place: Place = 'undeclared'): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return writeJson(value);
    case 'number':
      return writeNumber(value, place);
    case 'bigint':
      return writeBigInt(value);
    case 'object':
      return value === null ? 'null' : writeObject(value, place);
    default:
      return undefined;
  }
}

function writeNumber(value: number, place: Place): string {
  const isLong = Number.isSafeInteger(value) && (value >= LONGEST_INT || value < -LONGEST_INT);
  return isLong && place === 'undeclared' ? wrap('java.lang.Long', String(value)) : writeJson(value);
}

function writeBigInt(value: bigint): string {
  const fits = value < LONGEST_LONG && value >= -LONGEST_LONG;
  return wrap(fits ? 'java.lang.Long' : 'java.math.BigInteger', String(value));
}

function writeObject(value: object, place: Place): string {
  if (types.isDate(value)) return wrap('java.util.Date', String(Date.prototype.getTime.call(value)));
  if (types.isUint8Array(value)) return writeBytes(value, place);
  return Array.isArray(value) ? writeArray(value) : writeEntries(value as Record<string, unknown>);
}

function writeBytes(value: Uint8Array, place: Place): string {
  const base64 = JSON.stringify(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64'));
  return place === 'undeclared' ? wrap('[B', base64) : base64;
}

function writeArray(values: readonly unknown[]): string {
  const elements = values.map((value) => writeJackson(value) ?? 'null');
  return wrap('java.util.ArrayList', `[${elements.join(',')}]`);
}

function writeEntries(object: Record<string, unknown>): string {
  const type = Object.hasOwn(object, CLASS) ? object[CLASS] : 'java.util.LinkedHashMap';
  if (typeof type !== 'string') throw new TypeError(`${CLASS} must be the name of a class, not ${typeof type}`);
  const place = isJavasOwn(type) ? 'undeclared' : 'field';
  const parts = [`"${CLASS}":${writeJson(type)}`];
  for (const [key, value] of Object.entries(object)) {
    const written = key === CLASS ? undefined : writeJackson(value, place);
    if (written !== undefined) parts.push(`${writeJson(key)}:${written}`);
  }
  return `{${parts.join(',')}}`;
}

function wrap(type: string, content: string): string {
  return `["${type}",${content}]`;
}
