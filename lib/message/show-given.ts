import { types } from 'node:util';

/** Matches a URL, which may contain a password. */
const IS_URL = /^\w+:\/\//;

/** Shows an invalid value in an error: short, on one line, and without calling any code that belongs to the value. */
export function showGiven(value: unknown): string {
  if (typeof value === 'string')
    return IS_URL.test(value) ? 'a URL' : `'${JSON.stringify(value.slice(0, 100)).slice(1, -1)}'`;
  return typeof value === 'number' || typeof value === 'symbol' ? String(value) : kindOf(value);
}

/** The maximum number of names in an error. */
const MAX_NAMED = 10;

/** Lists names in an error; if there are too many, the first ones and the number of the rest. */
export function showNames(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  return `${names.slice(0, MAX_NAMED).join(', ')}${more}`;
}

/** Names the kind of an invalid value that an error must not show, because it may be a password. Calls no code of the value. */
export function kindOf(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value === '' ? 'empty text' : 'text';
    case 'number':
      return Number.isNaN(value) ? 'NaN' : 'a number';
    case 'bigint':
      return 'a BigInt';
    case 'symbol':
      return 'a symbol';
    case 'function':
      return 'a function';
    case 'object':
      return value === null ? 'null' : kindOfObject(value);
    default:
      return String(value);
  }
}

function kindOfObject(value: object): string {
  if (types.isProxy(value)) return 'an object';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array';
  if (types.isPromise(value)) return 'a promise';
  if (types.isDate(value)) return 'a Date';
  const name = classNameOf(value);
  return name === undefined || name === 'Object' ? 'an object' : `an instance of ${name}`;
}

/** Returns undefined if the name cannot be read without calling code of the value. */
function classNameOf(value: object): string | undefined {
  const type = dataOf(Object.getPrototypeOf(value), 'constructor');
  const name = dataOf(type, 'name');
  return typeof name === 'string' && /^[\w$]{1,50}$/.test(name) ? name : undefined;
}

/** Returns the value of a property, unless it is a getter or belongs to a proxy. */
function dataOf(owner: unknown, name: string): unknown {
  const isReadable = (typeof owner === 'object' && owner !== null) || typeof owner === 'function';
  return isReadable && !types.isProxy(owner) ? Object.getOwnPropertyDescriptor(owner, name)?.value : undefined;
}
