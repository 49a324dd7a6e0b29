/** The keys and arguments of a Lua function, as its header declares them. */
export interface LuaHeader<Part extends string = string> {
  /** The keys of every call, then the extra keys of calls that send one more set, and so on. */
  readonly keys: readonly (readonly LuaKey<Part>[])[];
  readonly args: readonly (readonly LuaArgument[])[];
  readonly hasRest: boolean;
}

export interface LuaKey<Part extends string = string> {
  readonly name: string;
  readonly part: Part;
  /** The caller's name for the argument whose value is appended to the key. */
  readonly suffix?: string;
}

export interface LuaArgument {
  readonly name: string;
  /** The caller's name for the argument: the declared name in camel case. */
  readonly givenAs: string;
}

/**
 * Reads the comment at the beginning of a function:
 *
 * ```lua
 * -- KEYS ready ended:token       keys of the layout; the second is the key `ended` followed by the argument `token`
 * --      | delayed               keys that only some calls send, after the others
 * -- ARGV limit: number, at …     arguments: a name, `number` or `text`, and what it means, with its unit
 * --        and its range         (the other lines of an entry are indented further)
 * --      | rule: text, …         sent by the calls that send the extra keys
 * --      ...: for each …         the arguments that follow the named ones
 * ```
 * @param path - the path of the function, for errors
 * @throws Error if an entry is malformed
 */
export function readHeader(path: string, text: string): LuaHeader {
  const [comment] = /^(?:--.*\n)*/.exec(text)!;
  const entries = entriesOf(comment, 'ARGV');
  const hasRest = entries.at(-1)?.startsWith('...: ') ?? false;
  const args: LuaArgument[][] = [[]];
  for (const entry of hasRest ? entries.slice(0, -1) : entries) {
    const [, isFurther, name] = /^(\| )?(\w+): (?:number|text)\b/.exec(entry) ?? [];
    if (name === undefined) throw malformed(path, entry);
    if (isFurther) args.push([]);
    args.at(-1)!.push({ name, givenAs: camelCase(name) });
  }
  const keys = entriesOf(comment, 'KEYS').join(' ').split('|');
  return { keys: keys.map((names) => readKeys(path, names)), args, hasRest };
}

/** Returns the entries of a section: the lines aligned with the first word of its first line. Lines indented further continue an entry. */
function entriesOf(comment: string, title: string): string[] {
  const section = new RegExp(`^-- ${title} (.*\\n(?:-- {6}.*\\n)*)`, 'm').exec(comment)?.[1];
  const entries = section?.trimEnd().split(/\n-- {6}(?! )/) ?? [];
  return entries.map((entry) => entry.replace(/\n-- +/g, ' '));
}

function readKeys(path: string, names: string): LuaKey[] {
  const words = names.split(' ').filter((word) => word !== '');
  return words.map((word) => {
    const [, part, suffix] = /^(\w+)(?::(\w+))?$/.exec(word) ?? [];
    if (part === undefined) throw malformed(path, word);
    return suffix === undefined ? { name: part, part } : { name: `${part}_${suffix}`, part, suffix: camelCase(suffix) };
  });
}

export function camelCase(name: string): string {
  return name.replace(/[-_](\w)/g, (_match, letter: string) => letter.toUpperCase());
}

function malformed(path: string, text: string): Error {
  return new Error(`${path}: its header contains something that is neither a key nor an argument: ${text}`);
}
