import { createHash } from 'node:crypto';
import { readLua } from '../lua-files.js';

/** A Lua script as the server knows it. */
export interface RedisScript {
  readonly name: string;
  readonly source: string;
  readonly sha1: string;
  /** Whether its first argument is an instant after which it refuses to run (`deadline.lua`). */
  readonly hasDeadline: boolean;
}

/**
 * Reads `<home>/lua/<name>.lua`. A line `--@include <part>` stands for `include/<part>.lua` beside it, and one of
 * `<home>/<part>` for a part of another home. Comments are left out of what is sent: the server keeps the source of every
 * script it runs.
 *
 * @param home - the folder below `lib/store` that the script belongs to
 */
export function loadScript(home: string, name: string): RedisScript {
  const whole = readLua(`${home}/lua/${name}`).replace(
    /^--@include (?:(\w+)\/)?(\S+)$/gm,
    (_line, otherHome: string | undefined, part: string) => readLua(`${otherHome ?? home}/lua/include/${part}`),
  );
  const source = whole.replace(/^\s*--.*\n/gm, '').replace(/\n{2,}/g, '\n');
  const hasDeadline = source.includes('check_deadline(');
  return { name, source, sha1: createHash('sha1').update(source).digest('hex'), hasDeadline };
}
