import type { DelayQueueError } from '../../message/delay-queue-errors.js';

/** The reply of a script, read value by value in the order that its header states, or that of a command. */
export class ScriptReply {
  readonly #values: readonly unknown[];
  #at = 0;
  /** Set if what was written is not known to be copied, and its sender asked for copies. */
  notCopied?: DelayQueueError;

  constructor(reply: unknown) {
    this.#values = Array.isArray(reply) ? reply : [reply];
  }

  /** Whether everything has been read; a null reply contains nothing. */
  get done(): boolean {
    return this.#at >= this.#values.length || (this.#values.length === 1 && this.#values[0] === null);
  }

  /**
   * Passes on whether something was done.
   *
   * @throws DelayQueueError `NOT_REPLICATED` if it was, and is not known to be copied
   */
  ifCopied(isDone: boolean): boolean {
    if (isDone && this.notCopied) throw this.notCopied;
    return isDone;
  }

  number(): number {
    return this.#numberOf(this.#next());
  }

  /** A number, which is text if it has a fraction. */
  decimal(): number {
    const value = this.#next();
    return value instanceof Buffer ? Number(value.toString()) : this.#numberOf(value);
  }

  flag(): boolean {
    return this.number() === 1;
  }

  text(): string {
    return this.bytes().toString();
  }

  bytes(): Buffer {
    const value = this.#next();
    if (!Buffer.isBuffer(value)) throw unexpected('bytes', value);
    return value;
  }

  bytesOrNull(): Buffer | null {
    if (this.#values[this.#at] !== null) return this.bytes();
    this.#at++;
    return null;
  }

  /** Reads the rest, one item at a time. */
  rest<Item>(read: (reply: this) => Item): Item[] {
    const items: Item[] = [];
    while (!this.done) items.push(read(this));
    return items;
  }

  /** Reads a list within the reply, one item at a time. */
  list<Item>(read: (list: ScriptReply) => Item): Item[] {
    const values = this.#next();
    if (!Array.isArray(values)) throw unexpected('a list', values);
    return new ScriptReply(values).rest(read);
  }

  #numberOf(value: unknown): number {
    if (typeof value !== 'number') throw unexpected('a number', value);
    return value;
  }

  #next(): unknown {
    if (this.#at >= this.#values.length) throw unexpected('more values', undefined);
    return this.#values[this.#at++];
  }
}

function unexpected(wanted: string, value: unknown): TypeError {
  const actual = value === null ? 'null' : typeof value;
  return new TypeError(`A script's reply must contain ${wanted}, but contains ${actual}`);
}
