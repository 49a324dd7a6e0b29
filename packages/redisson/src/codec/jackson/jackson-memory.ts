import { types } from 'node:util';
import type { Place } from './jackson-mapping.js';

/** What is remembered of an object or array that was received. */
export interface ReceivedContainer {
  /** Its class; empty: one that only Java knows, from a declaration. */
  readonly type: string;
  /** Whether it was the whole payload. */
  readonly isPayload: boolean;
  /** The declared type of the place where it was; undefined where it was unknown. */
  readonly place: Place;
  /** The order of its keys in the text; undefined for an array. */
  readonly keys: readonly string[] | undefined;
  /** By key or index: what could not be written the same otherwise. */
  readonly parts: ReadonlyMap<string, ReceivedPart>;
}

/** One field, element or entry as it was received. */
export interface ReceivedPart {
  /** What tells whether it is still the same; see {@link stampOf}. */
  readonly stamp: unknown;
  readonly text: string;
  /** The class of the type wrapper, if it is a class of Java's own without parts. */
  readonly type?: string;
}

/** Keyed by the objects and arrays themselves: for as long as they are in use, and invisible to handlers. */
export class JacksonMemory {
  readonly #containers = new WeakMap<object, ReceivedContainer>();
  /** The text of values that carry their type. */
  readonly #values = new WeakMap<object, string>();

  remember(container: object, received: ReceivedContainer): void {
    this.#containers.set(container, received);
  }

  recall(container: object): ReceivedContainer | undefined {
    return this.#containers.get(container);
  }

  rememberText(value: object, text: string): void {
    this.#values.set(value, text);
  }

  recallText(value: object): string | undefined {
    return this.#values.get(value);
  }

  /** Lets a copy be written as what it was copied from. */
  readonly rememberCopy = (from: object, copy: object): void => {
    const received = this.#containers.get(from);
    if (received) this.#containers.set(copy, received);
  };

  /** Something that is equal as long as a value is what it was: dates and bytes can change, and containers be copied. */
  stampOf(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (types.isDate(value)) return `date ${Date.prototype.getTime.call(value)}`;
    if (types.isUint8Array(value)) return `bytes ${Buffer.from(value).toString('base64')}`;
    return this.#containers.get(value) ?? value;
  }
}
