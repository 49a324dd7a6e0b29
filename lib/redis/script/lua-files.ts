import { readFileSync } from 'node:fs';

/** Reads a Lua file of this folder by its path without `.lua`. The build inlines the files, because bundlers would omit them. */
export function readLua(path: string): string {
  return readFileSync(new URL(`${path}.lua`, import.meta.url), 'utf8');
}
