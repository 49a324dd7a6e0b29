import type { DelayQueueError } from '../../message/delay-queue-errors.js';

/** The reply of a script, read value by value in the order that its header states, or that of a command. */
export class ScriptReply {
  readonly #values: readonly unknown[];
  #at: number;
  /** Set if what was written is not known to be copied, and its sender asked for copies. */
  declare notCopied?: DelayQueueError;

  constructor(reply: unknown) {
    this.#values = Array.isArray(reply) ? reply : [reply];
    this.#at = 0;
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
    const value = this.#values[this.#at++];
    if (typeof value !== 'number') throw this.#mismatch('a number', value);
    return value;
  }

  /** A number, which is text if it has a fraction. */
  decimal(): number {
    return this.#values[this.#at] instanceof Buffer ? Number(this.text()) : this.number();
  }

  flag(): boolean {
    return this.number() === 1;
  }

  text(): string {
    return this.bytes().toString();
  }

  bytes(): Buffer {
    const value = this.#values[this.#at++];
    if (!Buffer.isBuffer(value)) throw this.#mismatch('bytes', value);
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
    const values = this.#values[this.#at++];
    if (!Array.isArray(values)) throw this.#mismatch('a list', values);
    return new ScriptReply(values).rest(read);
  }

  #mismatch(wanted: string, value: unknown): TypeError {
    const actual = this.#at > this.#values.length ? 'no more values' : value === null ? 'null' : typeof value;
    return new TypeError(`A script's reply must contain ${wanted}, but contains ${actual}`);
  }
}
