import { readLua } from '../lua-files.js';

/** Reads the text of a Lua file, by its path below `lib/store` and without `.lua`. */
export type ReadLua = typeof readLua;

const INCLUDE = /^--@include (?:(\w+)\/)?(\S+)$/gm;

/**
 * The text of `<home>/lua/<name>.lua`.
 *
 * @param path - `<home>/<name>`
 */
export function readScript(path: string, read: ReadLua): string {
  return read(path.replace('/', '/lua/'));
}

/**
 * The texts of the parts that a script includes, each before those that include it, and once.
 *
 * A line `--@include <part>` of a script or a part stands for `include/<part>.lua` beside it, and one of `<home>/<part>` for a
 * part of another home.
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

/** Without comments and empty lines: the server keeps the source of every script it runs. */
export function withoutComments(text: string): string {
  return text.replace(/^\s*--.*\n/gm, '').replace(/^\n/gm, '');
}
