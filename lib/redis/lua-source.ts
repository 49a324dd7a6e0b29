import { readLua } from './lua-files.js';

/** Reads the text of a Lua file by its path, without `.lua`. */
export type ReadLua = (path: string) => string;

/** What reads the Lua files of each home: a folder with scripts in `lua`, and their parts in `lua/include`. */
export type LuaHomes = Readonly<Record<string, ReadLua>>;

/** Reads the Lua files of the given homes, and of this folder, whose home is `redis`, by `<home>/<path in the home>`. */
export function readHomes(given: LuaHomes): ReadLua {
  const homes: LuaHomes = { redis: readLua, ...given };
  return (path) => {
    const [home = ''] = path.split('/');
    const read = homes[home];
    if (read === undefined) throw new Error(`${path}: there are no Lua files of ${home}`);
    return read(path.slice(home.length + 1));
  };
}

const INCLUDE = /^--@include (?:(\w+)\/)?(\S+)$/gm;

/**
 * Reads the text of `<home>/lua/<name>.lua`.
 *
 * @param path - `<home>/<name>`
 */
export function readScript(path: string, read: ReadLua): string {
  return read(path.replace('/', '/lua/'));
}

/**
 * Reads the texts of all parts that a script includes: each once, and before the parts that include it.
 *
 * A line `--@include <part>` in a script or a part refers to `include/<part>.lua` of the same home, and `--@include
 * <home>/<part>` to a part of another home.
 *
 * @throws Error if parts include each other
 */
export function readParts(path: string, read: ReadLua): string[] {
  const texts = new Map<string, string>();
  const collect = (text: string, ownHome: string, way: readonly string[]) => {
    for (const [, home = ownHome, name] of text.matchAll(INCLUDE)) {
      const part = `${home}/lua/include/${name}`;
      const wayThere = [...way, `${home}/${name}`];
      if (way.includes(wayThere.at(-1)!)) throw new Error(`${path}: parts include each other: ${wayThere.join(' → ')}`);
      if (texts.has(part)) continue;
      const partText = read(part);
      collect(partText, home, wayThere);
      texts.set(part, partText);
    }
  };
  collect(readScript(path, read), path.split('/')[0]!, []);
  return [...texts.values()];
}

/** Removes comments and empty lines, because the server keeps the source of every script it runs. */
export function withoutComments(text: string): string {
  return text.replace(/^\s*--.*\n/gm, '').replace(/^\n/gm, '');
}
