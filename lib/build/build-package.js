import { rmSync } from 'node:fs';
import { bundleCode, bundleDeclarations } from './bundle.js';
import { compile } from './compile.js';
import { writeEntries } from './entries.js';

/**
 * Builds a package.
 *
 * All code exists once, as CommonJS, which every loader can load. The ES module entries export that same copy, so a process
 * never has two copies of a class or an injection token.
 *
 * @param built - from `describePackage`
 */
export async function buildPackage(built) {
  rmSync(built.dist, { recursive: true, force: true });
  compile(built);
  const chunks = await bundleCode(built);
  await bundleDeclarations(built);
  writeEntries(built, chunks);
  rmSync(built.modules, { recursive: true });
}
