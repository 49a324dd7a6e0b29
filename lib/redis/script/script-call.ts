import type { RedisScript } from './redis-script.js';

export type ScriptArgument = string | number | Buffer;

/** Arguments by name, without the deadline. */
export type ScriptArguments = Readonly<Record<string, ScriptArgument>>;

/** A call of a script: the keys and arguments that its header declares, with names in camel case. */
export interface ScriptCall<Part extends string = string> {
  /** All keys of the queue; only those that the header declares are sent. */
  readonly keys: Readonly<Record<Part, string>>;
  /** Whether the optional keys, in brackets in the header, are sent as well. */
  readonly optionalKeys?: boolean;
  readonly args?: ScriptArguments;
  /** The arguments that follow the named ones. */
  readonly rest?: readonly ScriptArgument[];
}

const NONE: ScriptArguments = {};

/**
 * The words of a call by digest: the digest, the number of keys, the keys, and the arguments. A list of offers has thousands of
 * words, so they are put together once.
 *
 * @param deadline - for a script that has one: an instant by the server's clock, ms; 0: none
 * @throws TypeError if the arguments are not those that the script's header declares
 */
export function wordsOf<Part extends string>(
  script: RedisScript<Part>,
  { keys, optionalKeys = false, args = NONE, rest = [] }: ScriptCall<NoInfer<Part>>,
  deadline: number,
): ScriptArgument[] {
  const given = (name: string) => {
    const value = name === 'deadline' ? deadline : args[name];
    if (value === undefined) throw new TypeError(`${script.name}: the argument ${name} is missing`);
    return value;
  };
  const sent = optionalKeys ? [...script.keys, ...script.optionalKeys] : script.keys;
  const words: ScriptArgument[] = [script.sha1, sent.length];
  for (const { part, suffix } of sent) {
    words.push(suffix === undefined ? keys[part] : keys[part] + String(given(suffix)));
  }
  for (const { givenAs } of script.args) words.push(given(givenAs));
  const declared = script.args.length - Number(script.hasDeadline);
  if (Object.keys(args).length > declared || (rest.length > 0 && !script.hasRest))
    throw new TypeError(`${script.name}: there are more arguments than its header declares`);
  for (const word of rest) words.push(word);
  return words;
}
