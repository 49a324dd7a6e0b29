import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A Lua script as the server knows it. */
export interface RedisScript {
  readonly name: string;
  readonly source: string;
  readonly sha1: string;
  /** Whether its first argument is an instant after which it refuses to run (`deadline.lua`). */
  readonly hasDeadline: boolean;
}

/**
 * Reads `<name>.lua` from a folder. A line `--@include <part>` stands for `include/<part>.lua`, and one of
 * `<layout>/<part>` for a part of another layout. Comments are left out of what is sent: the server keeps the source of every
 * script it runs.
 */
export function loadScript(folder: URL, name: string): RedisScript {
  const read = (file: string) => readFileSync(new URL(`${file}.lua`, folder), 'utf8');
  const whole = read(name).replace(
    /^--@include (?:(\w+)\/)?(\S+)$/gm,
    (_line, layout: string | undefined, part: string) =>
      read(`${layout === undefined ? '' : `../../${layout}/lua/`}include/${part}`),
  );
  const source = whole.replace(/^\s*--.*\n/gm, '').replace(/\n{2,}/g, '\n');
  const hasDeadline = source.includes('check_deadline(');
  return { name, source, sha1: createHash('sha1').update(source).digest('hex'), hasDeadline };
}
