import { readFileSync } from 'node:fs';

/** Reads a Lua file of this folder by its path without `.lua`. The build inlines the texts, because bundlers omit such files. */
export function readLua(path: string): string {
  return readFileSync(new URL(`${path}.lua`, import.meta.url), 'utf8');
}
