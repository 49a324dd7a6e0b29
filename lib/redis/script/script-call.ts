import type { DelayQueueError } from '../../message/delay-queue-errors.js';
import type { RedisFunction } from './redis-library.js';

export type ScriptArgument = string | number | Buffer;

/** Arguments by name, without the deadline. */
export type ScriptArguments = Readonly<Record<string, ScriptArgument>>;

/** A function call: the keys and arguments that the function's header declares, under camel-case names. */
export interface ScriptCall<Part extends string = string> {
  /** All keys of the queue. Only those declared in the header are sent. */
  readonly keys: Readonly<Record<Part, string>>;
  /** Number of extra sets of keys and arguments to send. Default: 0. */
  readonly further?: number;
  readonly args?: ScriptArguments;
  readonly rest?: readonly ScriptArgument[];
  /** The latest time, on the monotonic clock, at which the call may take effect. */
  readonly notAfter?: number | undefined;
}

const NONE: ScriptArguments = {};

/**
 * Returns the arguments of `FCALL` for a call: the function's name, the number of keys, the keys, and the function's own arguments.
 * @param deadline - for a function that takes one: a time by the server's clock, ms; 0: none
 * @throws TypeError if the arguments are not those that the header declares
 */
export function wordsOf<Part extends string>(
  called: RedisFunction<Part>,
  { keys, further = 0, args = NONE, rest = [] }: ScriptCall<NoInfer<Part>>,
  deadline: number,
): ScriptArgument[] {
  const words: ScriptArgument[] = [called.calledAs, 0];
  for (let set = 0; set <= further; set++) {
    for (const { part, suffix } of called.keys[set] ?? [])
      words.push(suffix === undefined ? keys[part] : keys[part] + String(args[suffix]));
  }
  words[1] = words.length - 2;
  let declared = -Number(called.hasDeadline);
  for (let set = 0; set <= further; set++) {
    for (const { givenAs } of called.args[set] ?? []) {
      const value = givenAs === 'deadline' ? deadline : args[givenAs];
      if (value === undefined) throw new TypeError(`${called.name}: the argument ${givenAs} is missing`);
      words.push(value);
      declared++;
    }
  }
  if (Object.keys(args).length > declared || (rest.length > 0 && !called.hasRest))
    throw new TypeError(`${called.name}: there are more arguments than its header declares`);
  return rest.length > 0 ? words.concat(rest) : words;
}

/** The reply of a script or command, read value by value. A script's values come in the order stated in its header. */
export class ScriptReply {
  readonly #values: readonly unknown[];
  #at: number;
  /** Set if the sender asked for copies and the write is not known to have been replicated. */
  declare notCopied?: DelayQueueError;

  constructor(reply: unknown) {
    this.#values = Array.isArray(reply) ? reply : [reply];
    this.#at = 0;
  }

  /** True if everything has been read. A null reply counts as empty. */
  get done(): boolean {
    return this.#at >= this.#values.length || (this.#values.length === 1 && this.#values[0] === null);
  }

  /** Returns `isDone`. @throws DelayQueueError `NOT_REPLICATED` if it is true and the write is not known to have been replicated */
  ifCopied(isDone: boolean): boolean {
    if (isDone && this.notCopied) throw this.notCopied;
    return isDone;
  }

  number(): number {
    const value = this.#values[this.#at++];
    if (typeof value !== 'number') throw this.#mismatch('a number', value);
    return value;
  }

  /** Reads a number, which is a string if it has a fraction. */
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

  skip(): void {
    this.#at++;
  }

  rest<Item>(read: (reply: this) => Item): Item[] {
    const items: Item[] = [];
    while (!this.done) items.push(read(this));
    return items;
  }

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
