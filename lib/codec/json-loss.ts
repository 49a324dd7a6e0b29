import { types } from 'node:util';
import { isInstance, isStrayPromise } from '../message/failure.js';

/** What JSON has no word for, or writes as something else, and what to offer instead. */
export interface JsonLoss {
  readonly what: string;
  readonly advice: string;
}

type Brand = readonly [is: (value: object) => boolean, what: string, advice: string];

const AS_TEXT = 'offer its text';
const AS_BYTES = 'offer base64 text, or a Buffer as the whole payload';

/** Told by what they are, whatever fields they have besides. */
const BRANDS: readonly Brand[] = [
  [isStrayPromise, 'a Promise', 'await it first'],
  [isThenable, 'a thenable', 'await it first'],
  [types.isMap, 'a Map', 'offer Object.fromEntries(map)'],
  [types.isSet, 'a Set', 'offer [...set]'],
  [types.isWeakMap, 'a WeakMap', 'offer what is to be told of it'],
  [types.isWeakSet, 'a WeakSet', 'offer what is to be told of it'],
  [isError, 'an Error', 'offer { name: error.name, message: error.message }'],
  [types.isRegExp, 'a RegExp', AS_TEXT],
  [types.isDate, 'a Date without its toJSON()', AS_TEXT],
  [types.isSymbolObject, 'a symbol', AS_TEXT],
  [types.isAnyArrayBuffer, 'an ArrayBuffer', AS_BYTES],
  [types.isArrayBufferView, 'a view of bytes', AS_BYTES],
  [types.isGeneratorObject, 'a generator', 'offer [...generator]'],
];

/** Prototypes whose instances keep all that they have in fields, as far as can be seen from outside. */
const dataClasses = new WeakSet<object>();

/** Whether {@link lossOf} has seen that its instances keep what they have in fields. */
export function isDataClass(prototype: object): boolean {
  return dataClasses.has(prototype);
}

/**
 * Of an object that is no array and has nothing to say by a `toJSON`: whether the fields that JSON writes are all of it.
 *
 * What a class keeps in `#private` fields cannot be seen. Where there is nothing to write, and the class looks as if
 * there were something, it is a loss all the same.
 *
 * @throws what the object throws when it is looked at
 */
export function lossOf(value: object): JsonLoss | undefined {
  const brand = BRANDS.find(([is]) => is(value));
  if (brand) return { what: brand[1], advice: brand[2] };
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype === null || isRoot(prototype)) return undefined;
  const hasMore = looksFilled(prototype);
  if (!hasMore) dataClasses.add(prototype);
  if (Object.keys(value).length > 0 || !(hasMore || Reflect.ownKeys(value).length > 0)) return undefined;
  return { what: nameOf(value), advice: adviceFor(value) };
}

/** An `Object.prototype`, of whatever realm. */
function isRoot(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null;
}

/** Whether a class has properties to be read, or something to be iterated over, or is one of the platform's. */
function looksFilled(prototype: object): boolean {
  for (let at = prototype; !isRoot(at); at = Object.getPrototypeOf(at) as object) {
    const properties = Object.getOwnPropertyDescriptors(at) as Record<PropertyKey, PropertyDescriptor>;
    const keys = Reflect.ownKeys(properties);
    if (keys.some((key) => typeof key === 'symbol' || properties[key]!.get !== undefined)) return true;
  }
  return false;
}

function adviceFor(value: object): string {
  if (typeof (value as { entries?: unknown }).entries === 'function') return 'offer Object.fromEntries(…)';
  return Symbol.iterator in value ? 'offer [...it]' : 'offer a plain object, or give its class a toJSON()';
}

function nameOf(value: object): string {
  const { [Symbol.toStringTag]: tag, constructor } = value as { [Symbol.toStringTag]?: unknown };
  const name = typeof tag === 'string' ? tag : (constructor as { name?: unknown }).name;
  return typeof name === 'string' ? `an instance of ${name.slice(0, 80)}` : 'an object';
}

function isThenable(value: object): boolean {
  return typeof (value as { then?: unknown }).then === 'function';
}

function isError(value: object): boolean {
  return types.isNativeError(value) || isInstance(value, Error);
}
