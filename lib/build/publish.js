import { cpSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { LIBRARY, ROOT, writeLines } from './folders.js';

/** What of the manifest only this project needs: it would mislead those who install the package, and tools that audit them. */
const OWN_FIELDS = ['private', 'workspaces', 'scripts', 'devDependencies', 'overrides', 'typedocOptions'];

/** The package as it is published. */
const PACKAGE = join(ROOT, 'dist', 'package');

export function writePackage(manifest) {
  rmSync(PACKAGE, { recursive: true, force: true });
  cpSync(LIBRARY.dist, join(PACKAGE, relative(ROOT, LIBRARY.dist)), { recursive: true });
  for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md', 'schematics']) {
    cpSync(join(ROOT, file), join(PACKAGE, file), { recursive: true });
  }
  const published = Object.entries(manifest).filter(([field]) => !OWN_FIELDS.includes(field));
  writeLines(join(PACKAGE, 'package.json'), [JSON.stringify(Object.fromEntries(published), null, 2)]);
}
