/** What the header of a Lua script says of its keys and arguments. */
export interface LuaHeader {
  readonly keys: readonly LuaKey[];
  /** Sent by some calls only, behind the others. */
  readonly optionalKeys: readonly LuaKey[];
  readonly args: readonly LuaArgument[];
  /** Whether more arguments follow those that have names. */
  readonly hasRest: boolean;
}

export interface LuaKey {
  /** In the script. */
  readonly name: string;
  /** The key of the layout. */
  readonly part: string;
  /** What stands behind that in its name: the argument that a caller gives under this name. */
  readonly suffix?: string;
}

export interface LuaArgument {
  /** In the script. */
  readonly name: string;
  /** As a caller gives it: in camel case. */
  readonly givenAs: string;
  readonly type: 'number' | 'text';
}

const NO_KEYS = { keys: [], optionalKeys: [] };
const NO_ARGS = { args: [], hasRest: false };

/**
 * Reads the comment that a script begins with:
 *
 * ```lua
 * -- KEYS ready ended:token       keys of the layout; this is the key `ended`, with the argument `token` behind it
 * --      [delayed] if …          those that only some calls send
 * -- ARGV as native/claim         the arguments of another script, and
 * --      limit: number, most …   those of its own: a name, `number` or `text`, and what it means, with its unit
 * --        and its range         (further lines of an entry stand further to the right)
 * --      ...: for each …         what follows those
 * ```
 *
 * @param path - of the script, for errors
 * @param headerOf - reads the header of another script
 * @throws Error if an entry is none of these
 */
export function readHeader(path: string, text: string, headerOf: (path: string) => LuaHeader): LuaHeader {
  const comment = /^(?:#!.*\n)?((?:--.*\n)*)/.exec(text)![1]!;
  const keys = sectionOf(comment, 'KEYS');
  const args = sectionOf(comment, 'ARGV');
  return {
    ...(keys ? readKeys(path, keys.join(' ')) : NO_KEYS),
    ...(args ? readArguments(path, args, headerOf) : NO_ARGS),
  };
}

/** The entries of a section: lines that stand below the first word of its first line. What is indented further goes on. */
function sectionOf(comment: string, title: string): string[] | undefined {
  const section = new RegExp(`^-- ${title} (.*\\n(?:-- {6}.*\\n)*)`, 'm').exec(comment)?.[1];
  return section
    ?.trimEnd()
    .split(/\n-- {6}(?! )/)
    .map((entry) => entry.replace(/\n-- +/g, ' '));
}

function readKeys(path: string, text: string): Pick<LuaHeader, 'keys' | 'optionalKeys'> {
  const [, required, optional = ''] = /^([^[\]]*)(?:\[([^[\]]*)\][^[\]]*)?$/.exec(text) ?? [];
  if (required === undefined) throw unreadable(path, text);
  const read = (names: string) => names.split(' ').flatMap((name) => (name === '' ? [] : readKey(path, name)));
  return { keys: read(required), optionalKeys: read(optional) };
}

function readKey(path: string, text: string): LuaKey {
  const [, part, suffix] = /^(\w+)(?::(\w+))?$/.exec(text) ?? [];
  if (part === undefined) throw unreadable(path, text);
  return suffix === undefined ? { name: part, part } : { name: `${part}_${suffix}`, part, suffix: camelCase(suffix) };
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
    else throw unreadable(path, entry);
  }
  return { args, hasRest };
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_match, letter: string) => letter.toUpperCase());
}

function unreadable(path: string, text: string): Error {
  return new Error(`${path}: its header has what is neither a key nor an argument: ${text}`);
}
