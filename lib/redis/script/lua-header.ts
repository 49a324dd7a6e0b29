/** The keys and arguments of a Lua script, as its header declares them. */
export interface LuaHeader<Part extends string = string> {
  readonly keys: readonly LuaKey<Part>[];
  /** Sent only by some calls, after the others. */
  readonly optionalKeys: readonly LuaKey<Part>[];
  readonly args: readonly LuaArgument[];
  /** Whether more arguments follow the named ones. */
  readonly hasRest: boolean;
}

export interface LuaKey<Part extends string = string> {
  /** Its name in the script. */
  readonly name: string;
  /** The key of the layout. */
  readonly part: Part;
  /** The argument whose value is appended to that key, by the caller's name for it. */
  readonly suffix?: string;
}

export interface LuaArgument {
  /** Its name in the script. */
  readonly name: string;
  /** The caller's name for it: the same in camel case. */
  readonly givenAs: string;
  readonly type: 'number' | 'text';
}

/**
 * Reads the comment at the beginning of a script:
 *
 * ```lua
 * -- KEYS ready ended:token       keys of the layout; the second is the key `ended` followed by the argument `token`
 * --      [delayed] if …          keys that only some calls send
 * -- ARGV as native/claim         the arguments of another script, followed by
 * --      limit: number, at …     its own: a name, `number` or `text`, and what it means, with its unit
 * --        and its range         (the further lines of an entry are indented further)
 * --      ...: for each …         the arguments that follow the named ones
 * ```
 *
 * @param path - the script's path, for errors
 * @param headerOf - reads the header of another script
 * @throws Error if an entry is malformed
 */
export function readHeader(path: string, text: string, headerOf: (path: string) => LuaHeader): LuaHeader {
  const comment = /^(?:#!.*\n)?((?:--.*\n)*)/.exec(text)![1]!;
  const keys = entriesOf(comment, 'KEYS').join(' ');
  const [, required, optional = ''] = /^([^[\]]*)(?:\[([^[\]]*)\][^[\]]*)?$/.exec(keys) ?? [];
  if (required === undefined) throw malformed(path, keys);
  const args = entriesOf(comment, 'ARGV');
  return {
    keys: readKeys(path, required),
    optionalKeys: readKeys(path, optional),
    ...readArguments(path, args, headerOf),
  };
}

/** The entries of a section: the lines aligned with the first word of its first line. Lines indented further continue an entry. */
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
    if (suffix === undefined) return { name: part, part };
    return { name: `${part}_${suffix}`, part, suffix: camelCase(suffix) };
  });
}

function readArguments(path: string, entries: readonly string[], headerOf: (path: string) => LuaHeader) {
  const args: LuaArgument[] = [];
  let hasRest = false;
  for (const entry of entries) {
    const [, other] = /^as (\w+\/[\w-]+)/.exec(entry) ?? [];
    const [, name, type] = /^(\w+): (number|text)\b/.exec(entry) ?? [];
    if (other !== undefined) {
      const header = headerOf(other);
      args.push(...header.args);
      hasRest ||= header.hasRest;
    } else if (name !== undefined) args.push({ name, givenAs: camelCase(name), type: type as LuaArgument['type'] });
    else if (entry.startsWith('...: ')) hasRest = true;
    else throw malformed(path, entry);
  }
  return { args, hasRest };
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_match, letter: string) => letter.toUpperCase());
}

function malformed(path: string, text: string): Error {
  return new Error(`${path}: its header contains something that is neither a key nor an argument: ${text}`);
}
