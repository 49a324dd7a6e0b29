import type { RedisScript } from './redis-script.js';

export type ScriptArgument = string | number | Buffer;

/** What a script is called with. The script's header says what it takes; its names are in camel case here. */
export interface ScriptCall<Part extends string = string> {
  /** All keys of the queue: the script takes those that it names. */
  readonly keys: Readonly<Record<Part, string>>;
  /** Whether those in brackets are sent, too. */
  readonly optionalKeys?: boolean;
  readonly args?: ScriptArguments;
  /** What follows the arguments that have names. */
  readonly rest?: readonly ScriptArgument[];
}

/** By their names, the deadline left out. */
export type ScriptArguments = Readonly<Record<string, ScriptArgument>>;

const NONE: ScriptArguments = {};

/**
 * The words that follow a script in a call.
 *
 * @param deadline - an instant by the server's clock in ms, 0: none; for a script that takes one
 * @throws TypeError if the arguments are not those of the script's header
 */
export function wordsOf<Part extends string>(
  script: RedisScript<Part>,
  { keys, optionalKeys = false, args = NONE, rest = [] }: ScriptCall<NoInfer<Part>>,
  deadline: number,
): ScriptArgument[] {
  const given = (name: string) => (name === 'deadline' ? deadline : args[name]) ?? missing(script, name);
  const sent = optionalKeys ? [...script.keys, ...script.optionalKeys] : script.keys;
  const values = script.args.map(({ givenAs }) => given(givenAs));
  if (Object.keys(args).length > values.length - Number(script.hasDeadline) || (rest.length > 0 && !script.hasRest)) {
    throw new TypeError(`${script.name}: there are more arguments than its header names`);
  }
  const names = sent.map(({ part, suffix }) =>
    suffix === undefined ? keys[part] : keys[part] + String(given(suffix)),
  );
  return [names.length, ...names, ...values, ...rest];
}

function missing(script: RedisScript, name: string): never {
  throw new TypeError(`${script.name}: the argument ${name} is missing`);
}
