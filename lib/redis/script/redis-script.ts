import { createHash } from 'node:crypto';
import { type LuaHeader, readHeader } from './lua-header.js';
import { type LuaHomes, type ReadLua, readHomes, readParts, readScript, withoutComments } from './lua-source.js';

/** A Lua script: the source that the server runs, and the keys and arguments that its header declares. */
export interface RedisScript<Part extends string = string> extends LuaHeader<Part> {
  readonly name: string;
  readonly source: string;
  readonly sha1: string;
  /** Whether it has an argument `deadline`, the instant after which it refuses to run (`check_deadline`). */
  readonly hasDeadline: boolean;
}

/**
 * Loads `<home>/lua/<name>.lua` and the parts that it includes. Only the header defines the position of a key or an argument in
 * a call: the code, including the parts, uses `keys.<name>` and `args.<name>`, and `FIRST` for the position of the first
 * argument without a name.
 *
 * @param path - `<home>/<name>`
 * @param layout - the keys of any queue, by the names that a header may use
 * @param homes - the homes that the path, and the includes, name; `redis` is always one
 * @param variant - of which the script has the lines, if it has several
 * @throws Error if the header cannot be read or names a key that the layout does not have, if the header and the code use
 *   different names, or if parts include each other
 */
export function loadScript<Part extends string>(
  path: string,
  layout: Readonly<Record<Part, string>>,
  homes: LuaHomes = {},
  variant?: string,
): RedisScript<Part> {
  const read = readHomes(homes, variant);
  const text = readScript(path, read);
  const header: LuaHeader = headerOf(path, read);
  checkKeys(path, header, layout);
  const [shebang] = /^#!.*\n/.exec(text) ?? [''];
  const code = [...readParts(path, read), text.slice(shebang.length)].map(withoutComments).join('');
  const source = shebang + withPositions(path, header, code);
  const sha1 = createHash('sha1').update(source).digest('hex');
  const hasDeadline = header.args.some(({ name }) => name === 'deadline');
  return { ...header, name: path.split('/')[1]!, source, sha1, hasDeadline };
}

function headerOf(path: string, read: ReadLua): LuaHeader {
  return readHeader(path, readScript(path, read), (other) => headerOf(other, read));
}

function checkKeys<Part extends string>(
  path: string,
  header: LuaHeader,
  layout: Readonly<Record<Part, string>>,
): asserts header is LuaHeader<Part> {
  for (const { part, suffix } of [...header.keys, ...header.optionalKeys]) {
    if (!(part in layout)) throw new Error(`${path}: its header names the key ${part}, which the layout lacks`);
    if (suffix !== undefined && !header.args.some(({ givenAs }) => givenAs === suffix))
      throw new Error(`${path}: its header appends the argument ${suffix} to a key, but does not declare it`);
  }
}

/** Replaces the names of keys and arguments in the code by their positions, so that names cost nothing at run time. */
function withPositions(path: string, { keys, optionalKeys, args, hasRest }: LuaHeader, code: string): string {
  const positions = new Map<string, string>([
    ...[...keys, ...optionalKeys].map(({ name }, i) => [`keys.${name}`, `KEYS[${i + 1}]`] as const),
    ...args.map(({ name, type }, i) => {
      const argument = `ARGV[${i + 1}]`;
      return [`args.${name}`, type === 'number' ? `tonumber(${argument})` : argument] as const;
    }),
  ]);
  if (hasRest) positions.set('FIRST', String(args.length + 1));
  const unused = new Set(positions.keys());
  const placed = code.replace(/\b(?:(?:keys|args)\b(?:\.\w+)?|FIRST\b|(?:KEYS|ARGV)\[\d+)/g, (name) => {
    const position = positions.get(name);
    if (position === undefined)
      throw new Error(`${path}: its code uses a name that its header does not declare: ${name}`);
    unused.delete(name);
    return position;
  });
  if (unused.size > 0)
    throw new Error(`${path}: its header declares names that its code does not use: ${[...unused].join(', ')}`);
  return placed;
}
