import { readLua } from './lua-files.js';

/** Reads the text of a Lua file by its path, without `.lua`. */
export type ReadLua = (path: string) => string;

/** What reads the Lua files of each home: a folder with scripts in `lua`, and their parts in `lua/include`. */
export type LuaHomes = Readonly<Record<string, ReadLua>>;

/** Reads `<home>/<path in the home>`, where the home is one of those given, or `redis`: the one in this folder. */
export function readHomes(given: LuaHomes, variant?: string): ReadLua {
  const homes: LuaHomes = { redis: readLua, ...given };
  return (path) => {
    const home = homeOf(path);
    const read = homes[home];
    if (read === undefined) throw new Error(`${path}: there are no Lua files of ${home}`);
    return ofVariant(read(path.slice(home.length + 1)), variant);
  };
}

/** A line `--@with <variant> <code>` is there in this variant of a script only. */
export function ofVariant(text: string, variant: string | undefined): string {
  return text.replace(/^([ \t]*)--@with (\w+) (.*)\n/gm, (_line, indent: string, of: string, code: string) =>
    of === variant ? `${indent}${code}\n` : '',
  );
}

/** Reads the script `<home>/<name>`. */
export function readScript(path: string, read: ReadLua): string {
  return read(path.replace('/', '/lua/'));
}

const INCLUDE = /^--@include (?:(\w+)\/)?(\S+)$/gm;

/**
 * Reads the parts that a script includes: each once, and before the parts that include it. A line `--@include <part>` refers to
 * `include/<part>.lua` of the same home, and `--@include <home>/<part>` to a part of another home.
 *
 * @throws Error if parts include each other
 */
export function readParts(path: string, read: ReadLua): string[] {
  const texts = new Map<string, string>();
  const collect = (text: string, ownHome: string, way: readonly string[]) => {
    for (const [, home = ownHome, name] of text.matchAll(INCLUDE)) {
      const part = `${home}/${name}`;
      const wayThere = [...way, part];
      if (way.includes(part)) throw new Error(`${path}: parts include each other: ${wayThere.join(' → ')}`);
      if (texts.has(part)) continue;
      const partText = read(`${home}/lua/include/${name}`);
      collect(partText, home, wayThere);
      texts.set(part, partText);
    }
  };
  collect(readScript(path, read), homeOf(path), []);
  return [...texts.values()];
}

/** Removes comments and empty lines, because the server keeps the source of every script it runs. */
export function withoutComments(text: string): string {
  return text.replace(/^\s*--.*\n/gm, '').replace(/^\n/gm, '');
}

const homeOf = (path: string) => path.split('/')[0]!;
