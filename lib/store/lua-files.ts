import { readFileSync } from 'node:fs';

/**
 * The text of a Lua file. Nothing else reads one from the disk: the build replaces this module by one that holds the texts,
 * because bundlers leave such files behind.
 *
 * @param path - below this folder, without `.lua`
 */
export function readLua(path: string): string {
  return readFileSync(new URL(`${path}.lua`, import.meta.url), 'utf8');
}
