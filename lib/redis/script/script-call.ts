import type { RedisFunction } from './redis-library.js';

export type ScriptArgument = string | number | Buffer;

/** Arguments by name, without the deadline. */
export type ScriptArguments = Readonly<Record<string, ScriptArgument>>;

/** A call of a function: the keys and arguments that its header declares, with names in camel case. */
export interface ScriptCall<Part extends string = string> {
  /** All keys of the queue; only those that the header declares are sent. */
  readonly keys: Readonly<Record<Part, string>>;
  /** How many of the sets of further keys and arguments are sent. Default: 0. */
  readonly further?: number;
  readonly args?: ScriptArguments;
  /** The arguments that follow the named ones. */
  readonly rest?: readonly ScriptArgument[];
  /** It takes effect before this instant of the monotonic clock, or never. */
  readonly notAfter?: number | undefined;
}

const NONE: ScriptArguments = {};

/**
 * The words of a call: the name of the function, the number of keys, the keys, and the arguments. A list of offers has thousands of words,
 * so they are put together once.
 *
 * @param deadline - for a function that has one: an instant by the server's clock, ms; 0: none
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
  for (const word of rest) words.push(word);
  return words;
}
