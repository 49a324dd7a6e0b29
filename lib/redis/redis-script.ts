import { createHash } from 'node:crypto';
import { type LuaHeader, type LuaKey, readHeader } from './lua-header.js';
import { type LuaHomes, type ReadLua, readHomes, readParts, readScript, withoutComments } from './lua-source.js';

/** A Lua script: the source that the server runs, and the keys and arguments that its header declares. */
export interface RedisScript<Part extends string = string> extends LuaHeader {
  readonly name: string;
  readonly source: string;
  readonly sha1: string;
  /** Whether it has an argument `deadline`, the instant after which it refuses to run (`check_deadline`). */
  readonly hasDeadline: boolean;
  readonly keys: readonly ScriptKey<Part>[];
  readonly optionalKeys: readonly ScriptKey<Part>[];
}

interface ScriptKey<Part extends string> extends LuaKey {
  readonly part: Part;
}

/**
 * Loads `<home>/lua/<name>.lua` and the parts that it includes. Only the header defines the position of a key or an argument in
 * a call: the code, including the parts, uses `keys.<name>` and `args.<name>`, and `FIRST` for the position of the first
 * argument without a name.
 *
 * @param path - `<home>/<name>`
 * @param layout - the keys of any queue, by the names that a header may use
 * @param homes - the homes that the path, and the includes, name; `redis` is always one
 * @throws Error if the header cannot be read or names a key that the layout does not have, if the header and the code use
 *   different names, or if parts include each other
 */
export function loadScript<Part extends string>(
  path: string,
  layout: Readonly<Record<Part, string>>,
  homes: LuaHomes = {},
): RedisScript<Part> {
  const read = readHomes(homes);
  const text = readScript(path, read);
  const header = headerOf(path, read);
  const [shebang] = /^#!.*\n/.exec(text) ?? [''];
  const code = [...readParts(path, read), text.slice(shebang.length)].map(withoutComments).join('');
  const source = shebang + withPlaces(path, header, code);
  const sha1 = createHash('sha1').update(source).digest('hex');
  const hasDeadline = header.args.some(({ name }) => name === 'deadline');
  return { ...header, ...inLayout(path, header, layout), name: path.split('/')[1]!, source, sha1, hasDeadline };
}

function headerOf(path: string, read: ReadLua): LuaHeader {
  return readHeader(path, readScript(path, read), (other) => headerOf(other, read));
}

function inLayout<Part extends string>(path: string, header: LuaHeader, layout: Readonly<Record<Part, string>>) {
  const check = (key: LuaKey): ScriptKey<Part> => {
    if (!(key.part in layout)) throw new Error(`${path}: its header names the key ${key.part}, which the layout lacks`);
    if (key.suffix !== undefined && !header.args.some(({ givenAs }) => givenAs === key.suffix)) {
      throw new Error(`${path}: its header appends the argument ${key.suffix} to a key, but does not declare it`);
    }
    return key as ScriptKey<Part>;
  };
  return { keys: header.keys.map(check), optionalKeys: header.optionalKeys.map(check) };
}

/** Replaces the names of keys and arguments in the code by their positions, so that names cost nothing at run time. */
function withPlaces(path: string, header: LuaHeader, code: string): string {
  const places = placesOf(header);
  const unused = new Set(places.keys());
  const placed = code.replace(/\b(?:(?:keys|args)\b(?:\.\w+)?|FIRST\b|(?:KEYS|ARGV)\[\d+)/g, (name) => {
    const place = places.get(name);
    if (place === undefined) throw new Error(`${path}: its code uses a name that its header does not declare: ${name}`);
    unused.delete(name);
    return place;
  });
  if (unused.size > 0)
    throw new Error(`${path}: its header declares names that its code does not use: ${[...unused].join(', ')}`);
  return placed;
}

function placesOf({ keys, optionalKeys, args, hasRest }: LuaHeader): Map<string, string> {
  const places = new Map<string, string>();
  for (const [i, { name }] of [...keys, ...optionalKeys].entries()) places.set(`keys.${name}`, `KEYS[${i + 1}]`);
  for (const [i, { name, type }] of args.entries()) {
    places.set(`args.${name}`, type === 'number' ? `tonumber(ARGV[${i + 1}])` : `ARGV[${i + 1}]`);
  }
  if (hasRest) places.set('FIRST', String(args.length + 1));
  return places;
}
