import { createHash } from 'node:crypto';
import { readLua } from '../lua-files.js';
import { type LuaHeader, type LuaKey, readHeader } from './lua-header.js';
import { type ReadLua, readParts, readScript, withoutComments } from './lua-source.js';

/** A Lua script as the server knows it, and as its header says it is called. */
export interface RedisScript<Part extends string = string> extends LuaHeader {
  readonly name: string;
  readonly source: string;
  readonly sha1: string;
  /** Whether it refuses to run after an instant, which its argument `deadline` is (`deadline.lua`). */
  readonly hasDeadline: boolean;
  readonly keys: readonly ScriptKey<Part>[];
  readonly optionalKeys: readonly ScriptKey<Part>[];
}

interface ScriptKey<Part extends string> extends LuaKey {
  readonly part: Part;
}

/**
 * Reads `<home>/lua/<name>.lua` and the parts that it includes. The header names the keys and the arguments, and nothing else
 * does: the code finds them in the tables `keys` and `args`, and arguments without names in `ARGV`, from `FIRST` on.
 *
 * @param path - `<home>/<name>`; the home is a folder below `lib/store`
 * @param layout - the keys of some queue, by the names that a header may have
 * @throws Error if the header cannot be read or names a key that the layout does not have, if the header and the code do not
 *   have the same names, or if parts include each other
 */
export function loadScript<Part extends string>(
  path: string,
  layout: Readonly<Record<Part, string>>,
  read: ReadLua = readLua,
): RedisScript<Part> {
  const text = readScript(path, read);
  const header = headerOf(path, read);
  const [shebang] = /^#!.*\n/.exec(text) ?? [''];
  const parts = readParts(path, read).join('\n');
  const code = withoutComments(text.slice(shebang.length));
  checkNames(path, header, `${parts}\n${code}`);
  const source = [shebang, withoutComments(parts), ...localsOf(header), code].join('');
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
    return key as ScriptKey<Part>;
  };
  return { keys: header.keys.map(check), optionalKeys: header.optionalKeys.map(check) };
}

/** The header and the code, parts included, have the same names; a number in the place of one would be right by chance. */
function checkNames(path: string, { keys, optionalKeys, args, hasRest }: LuaHeader, code: string): void {
  const declared = [...keys, ...optionalKeys].map(({ name }) => `keys.${name}`);
  declared.push(...args.map(({ name }) => `args.${name}`), ...(hasRest ? ['FIRST'] : []));
  const used = new Set(withoutComments(code).match(/\b(?:(?:keys|args)\.\w+|FIRST\b|(?:KEYS|ARGV)\[\d+)/g));
  const undeclared = [...used].filter((name) => !declared.includes(name));
  if (undeclared.length > 0) throw new Error(`${path}: its code uses what its header lacks: ${undeclared.join(', ')}`);
  const unused = declared.filter((name) => !used.has(name));
  if (unused.length > 0) throw new Error(`${path}: its header has what its code does not use: ${unused.join(', ')}`);
}

/** The lines that give a script's keys and arguments their names. */
function localsOf({ keys, optionalKeys, args, hasRest }: LuaHeader): string[] {
  const ofKeys = [...keys, ...optionalKeys].map(({ name }, i) => `${name}=KEYS[${i + 1}]`);
  const ofArgs = args.map(({ name, type }, i) =>
    type === 'number' ? `${name}=tonumber(ARGV[${i + 1}])` : `${name}=ARGV[${i + 1}]`,
  );
  return [
    ...(ofKeys.length > 0 ? [`local keys = {${ofKeys.join(',')}}\n`] : []),
    ...(ofArgs.length > 0 ? [`local args = {${ofArgs.join(',')}}\n`] : []),
    ...(hasRest ? [`local FIRST = ${args.length + 1}\n`] : []),
  ];
}
