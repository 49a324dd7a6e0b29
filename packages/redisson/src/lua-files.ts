import { readFileSync } from 'node:fs';

/**
 * Reads a Lua file of this folder. The build replaces this module with one that contains the texts, because bundlers omit such files.
 * @param path - relative to this folder, without `.lua`
 */
export function readLua(path: string): string {
  return readFileSync(new URL(`${path}.lua`, import.meta.url), 'utf8');
}
