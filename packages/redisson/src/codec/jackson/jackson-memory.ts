import { types } from 'node:util';
import type { Place } from './jackson-mapping.js';

/** The memory of a received object or array. */
export interface ReceivedContainer {
  /** The class; empty if only Java knows it, from a declaration. */
  readonly type: string;
  /** True if it was the whole payload. */
  readonly isPayload: boolean;
  /** The declared type of its place; undefined if unknown. */
  readonly place: Place;
  /** The order of its keys in the text; undefined for an array. */
  readonly keys: readonly string[] | undefined;
  /** By key or index: parts that would otherwise be written differently. */
  readonly parts: ReadonlyMap<string, ReceivedPart>;
}

/** One field, element or entry, as received. */
export interface ReceivedPart {
  /** Shows if the value is unchanged; see {@link stampOf}. */
  readonly stamp: unknown;
  readonly text: string;
  /** The class of the type wrapper, if it is a class of Java's own without parts. */
  readonly type?: string;
}

/** Keyed by the objects and arrays themselves, so that entries last as long as they and are invisible to handlers. */
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

  /** Makes a copy be written like its original. */
  readonly rememberCopy = (from: object, copy: object): void => {
    const received = this.#containers.get(from);
    if (received) this.#containers.set(copy, received);
  };

  /**
   * Returns a value that stays equal while the given one is unchanged, because dates and bytes can change, and containers can be copied.
   */
  stampOf(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (types.isDate(value)) return `date ${Date.prototype.getTime.call(value)}`;
    if (types.isUint8Array(value)) return `bytes ${Buffer.from(value).toString('base64')}`;
    return this.#containers.get(value) ?? value;
  }
}
