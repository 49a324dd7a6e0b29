import { types } from 'node:util';
import { isStrayPromise, isThenable } from '../failure.js';
import { isError } from '../untrusted-value.js';

/** A value that JSON cannot represent, or writes as something else, and advice on what to offer instead. */
export interface JsonLoss {
  readonly what: string;
  readonly advice: string;
}

type Brand = readonly [is: (value: object) => boolean, what: string, advice: string];

const AS_TEXT = 'offer its text';
const AS_BYTES = 'offer base64 text, or a Buffer as the whole payload';

/** Objects that are refused whatever fields they have. */
const BRANDS: readonly Brand[] = [
  [isStrayPromise, 'a Promise', 'await it first'],
  [isThenable, 'a thenable', 'await it first'],
  [types.isMap, 'a Map', 'offer Object.fromEntries(map)'],
  [types.isSet, 'a Set', 'offer [...set]'],
  [types.isWeakMap, 'a WeakMap', 'offer plain data'],
  [types.isWeakSet, 'a WeakSet', 'offer plain data'],
  [isError, 'an Error', 'offer { name: error.name, message: error.message }'],
  [types.isRegExp, 'a RegExp', AS_TEXT],
  [types.isDate, 'a Date without its toJSON()', AS_TEXT],
  [types.isSymbolObject, 'a symbol', AS_TEXT],
  [types.isAnyArrayBuffer, 'an ArrayBuffer', AS_BYTES],
  [types.isArrayBufferView, 'an ArrayBuffer view', AS_BYTES],
  [types.isGeneratorObject, 'a generator', 'offer [...generator]'],
];

/** Prototypes of classes that seem to keep all their data in fields. */
const dataClasses = new WeakSet<object>();

/** True if {@link lossOf} has added this prototype to the data classes. */
export function isDataClass(prototype: object): boolean {
  return dataClasses.has(prototype);
}

/**
 * Returns what JSON would lose by writing only the fields of an object that is not an array and has no `toJSON`; undefined if nothing.
 * Throws what reading the object throws. `#private` fields are hidden, so an empty object is also a loss if its class seems to have more.
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

/** Returns what JSON would lose by writing only a list's elements, such as the fields of a regular expression's match, if anything. */
export function lossOfList(list: readonly unknown[]): JsonLoss | undefined {
  const field = Object.keys(list).find((key) => !isIndex(key, list.length));
  if (field === undefined) return undefined;
  return { what: `the field '${field.slice(0, 40)}' of a list`, advice: 'offer [...list], or an object with both' };
}

function isIndex(key: string, length: number): boolean {
  return Number(key) < length && String(Number(key) >>> 0) === key;
}

/** True for the `Object.prototype` of any realm. */
function isRoot(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null;
}

/** True if a prototype has getters, symbols (an iterator or a tag, as in platform classes), or data, which instances normally hold. */
function looksFilled(prototype: object): boolean {
  for (let at = prototype; !isRoot(at); at = Object.getPrototypeOf(at) as object) {
    const properties = Object.getOwnPropertyDescriptors(at) as Record<PropertyKey, PropertyDescriptor>;
    const keys = Reflect.ownKeys(properties);
    if (keys.some((key) => typeof key === 'symbol' || properties[key]!.get !== undefined || isData(properties[key]!)))
      return true;
  }
  return false;
}

function isData({ enumerable, value }: PropertyDescriptor): boolean {
  return enumerable === true && typeof value !== 'function';
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
