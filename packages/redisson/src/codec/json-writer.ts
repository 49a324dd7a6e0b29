import { types } from 'node:util';
import { JsonNumber } from './json-number.js';
import { inReceivedOrder, isAlphabetical } from './json-keys.js';
import { recall } from './json-reader.js';

/** Writes checked data as Jackson writes the fields of a class: in alphabetical order. Received data is written as it was. */
export function writeJson(value: unknown, quote: (text: string) => string): string {
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'object':
      return value === null ? 'null' : writeObject(value, quote);
    default:
      // As JSON.stringify does, but with a BigInt as a number.
      return String(value);
  }
}

function writeObject(object: object, quote: (text: string) => string): string {
  if (Array.isArray(object)) return writeArray(object, quote);
  if (object instanceof JsonNumber) return object.text;
  if (types.isDate(object)) return quote(Date.prototype.toISOString.call(object));
  const fields = object as Record<string, unknown>;
  const memory = recall(object);
  let text = '';
  for (const key of orderOf(Object.keys(object), memory?.keys)) {
    const value = fields[key];
    if (value === undefined) continue;
    const number = memory?.numbers.get(key);
    text += `${text === '' ? '{' : ','}${quote(key)}:`;
    text += number !== undefined && Object.is(number.value, value) ? number.text : writeJson(value, quote);
  }
  return text === '' ? '{}' : `${text}}`;
}

function writeArray(array: readonly unknown[], quote: (text: string) => string): string {
  const numbers = recall(array)?.numbers;
  let text = '';
  for (let i = 0; i < array.length; i++) {
    const number = numbers?.get(String(i));
    text += i === 0 ? '[' : ',';
    text += number !== undefined && Object.is(number.value, array[i]) ? number.text : writeJson(array[i], quote);
  }
  return text === '' ? '[]' : `${text}]`;
}

function orderOf(keys: string[], received: readonly string[] | undefined): string[] {
  if (received !== undefined) return inReceivedOrder(received, keys);
  return isAlphabetical(keys) ? keys : keys.sort();
}
