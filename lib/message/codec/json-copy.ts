import { types } from 'node:util';
import { showFailure } from '../failure.js';
import { DelayQueueError } from '../delay-queue-errors.js';
import { type JsonLoss, lossOf, lossOfList } from './json-loss.js';

/** True if a codec has its own encoding for a value that JSON cannot represent. */
export type Keeps = (value: unknown) => boolean;

/** Called with each copy of an object or array, so that a codec can look up what it knows about the original. */
export type Copied = (from: object, copy: object) => void;

/** The nesting limit: more levels than real data has, but far fewer than would overflow the stack. */
const DEEP = 500;
const MAX_PATH = 20;
/** The JSON of more values would not fit in a string: each value takes at least two characters, and strings have at most about 2²⁹. */
const MAX_VALUES = 2 ** 28;

/** An object seen before, and how many values are written each time it occurs. */
interface Seen {
  /** Undefined while the object is being copied. */
  copy?: object;
  values: number;
}

const { toJSON: bufferToJson } = Buffer.prototype as { toJSON?: unknown };

/** Copies a value as JSON would write it. Reads each property once, so what was checked is what is written. Shared objects stay shared. */
export class JsonCopy {
  readonly #keeps: Keeps;
  readonly #copied: Copied;
  /** The path of the value being copied; kept after a throw, for the error. */
  readonly #path: (string | number)[] = [];
  readonly #seen = new Map<object, Seen>();
  #values = 0;
  #refusal: DelayQueueError | undefined;

  constructor(keeps: Keeps, copied: Copied = () => {}) {
    this.#keeps = keeps;
    this.#copied = copied;
  }

  /** Copies a payload, or throws `INVALID_PAYLOAD` with the path of the part that cannot be written. */
  make(payload: unknown): unknown {
    try {
      const data = this.#copy(payload, '');
      if (data !== undefined) return data;
      const what = payload === undefined ? 'undefined' : 'an object whose toJSON() returns nothing';
      return this.#refuse({ what, advice: 'offer plain data, or null for no payload' });
    } catch (cause) {
      // The payload's own code may throw anything, even undefined.
      if (this.#refusal !== undefined && cause === this.#refusal) throw cause;
      const problem = this.#path.length > DEEP ? 'is nested too deeply' : `cannot be read (${showFailure(cause)})`;
      throw new DelayQueueError('INVALID_PAYLOAD', `${showPath(this.#path)}: it ${problem}; offer plain data`, {
        cause,
      });
    }
  }

  /** Returns undefined for what JSON omits. */
  #copy(given: unknown, key: string | number): unknown {
    this.#values++;
    if (this.#keeps(given)) return given;
    const value = jsonValueOf(given, key);
    if (this.#keeps(value)) return value;
    switch (typeof value) {
      case 'string':
      case 'boolean':
      case 'undefined':
        return value;
      case 'number':
        return Number.isFinite(value) ? value : this.#refuse({ what: String(value), advice: 'offer null, or text' });
      case 'bigint':
        return this.#refuse({ what: 'a BigInt', advice: 'offer it as text' });
      case 'object':
        if (value !== null) return this.#copyObject(value);
        return types.isDate(given) ? this.#refuse({ what: 'an invalid Date', advice: 'offer null' }) : null;
      default:
        return this.#refuse({ what: `a ${typeof value}`, advice: 'leave it out' });
    }
  }

  #copyObject(object: object): unknown {
    if (types.isNumberObject(object)) return this.#copy(Number(object), '');
    if (types.isStringObject(object)) return String(object);
    if (types.isBooleanObject(object)) return Boolean.prototype.valueOf.call(object);
    if (types.isBigIntObject(object)) return this.#copy(BigInt.prototype.valueOf.call(object), '');
    const seen = this.#seen.get(object);
    if (seen) return seen.copy ? this.#again(seen) : this.#refuse({ what: 'a cycle', advice: 'offer plain data' });
    const entry: Seen = { values: this.#values };
    this.#seen.set(object, entry);
    entry.copy = Array.isArray(object) ? this.#copyArray(object) : this.#copyFields(object);
    entry.values = this.#values - entry.values;
    this.#copied(object, entry.copy);
    return entry.copy;
  }

  /** Reuses a copy, but limits the number of values: a few objects shared within shared objects could otherwise make the JSON huge. */
  #again({ copy, values }: Seen): unknown {
    this.#values += values;
    if (this.#values > MAX_VALUES) this.#refuse({ what: 'so many values', advice: 'offer a reference to the data' });
    return copy;
  }

  #copyArray(array: readonly unknown[]): unknown[] {
    const loss = lossOfList(array);
    if (loss) this.#refuse(loss);
    const copy: unknown[] = [];
    for (let i = 0; i < array.length; i++) {
      this.#path.push(i);
      const element = this.#copy(array[i], i);
      if (element === undefined) this.#refuse({ what: 'undefined in a list', advice: 'offer null' });
      copy.push(element);
      this.#path.pop();
    }
    return copy;
  }

  #copyFields(object: object): object {
    const loss = lossOf(object);
    if (loss) this.#refuse(loss);
    // Without a prototype, so `__proto__` is a key like any other.
    const copy = Object.create(null) as Record<string, unknown>;
    for (const key of Object.keys(object)) {
      this.#path.push(key);
      const field = this.#copy((object as Record<string, unknown>)[key], key);
      if (field !== undefined) copy[key] = field;
      this.#path.pop();
    }
    return copy;
  }

  #refuse({ what, advice }: JsonLoss): never {
    this.#refusal = new DelayQueueError(
      'INVALID_PAYLOAD',
      `${showPath(this.#path)}: JSON cannot represent ${what}; ${advice}`,
    );
    throw this.#refusal;
  }
}

/** Returns what JSON writes for a value: the result of its `toJSON`, if it has one other than that of `Buffer`; otherwise the value. */
function jsonValueOf(value: unknown, key: string | number): unknown {
  if (value === null || (typeof value !== 'object' && typeof value !== 'bigint' && typeof value !== 'function')) {
    return value;
  }
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON !== 'function' || toJSON === bufferToJson) return value;
  return Reflect.apply(toJSON, value, [String(key)]);
}

/** Shows a path as it is written in code, shortened in the middle if it is long. */
export function showPath(path: readonly (string | number)[]): string {
  const steps = path.map((key) => {
    if (typeof key === 'number') return `[${key}]`;
    return /^[\w$]{1,40}$/.test(key) ? `.${key}` : `[${JSON.stringify(key.slice(0, 40))}]`;
  });
  const shown = steps.length > MAX_PATH ? [...steps.slice(0, 5), '…', ...steps.slice(-5)] : steps;
  return `payload${shown.join('')}`;
}
