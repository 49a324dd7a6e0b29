import { delimiter, join } from 'node:path';
import { isExecutable } from '../is-executable.js';
import type { RedisBinary } from './redis-process.js';

/**
 * File names on the PATH, and the names to call them by: the checker of dump files is the server's binary, which looks at
 * the name it is called by to know its role.
 */
const CANDIDATES = [
  ['redis-server', 'redis-server'],
  ['valkey-server', 'valkey-server'],
  ['redis-check-rdb', 'redis-server'],
] as const;

/** The first server on the PATH, Redis or Valkey; undefined: there is none. */
export function findBinary(): RedisBinary | undefined {
  for (const folder of process.env.PATH?.split(delimiter) ?? []) {
    for (const [file, name] of CANDIDATES) {
      const path = join(folder, file);
      if (isExecutable(path)) return { kind: 'binary', path, name };
    }
  }
  return undefined;
}
