import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder } from './package-folder.js';

/** The version of this package. */
export function readVersion(): string {
  return (JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8')) as { version: string }).version;
}
