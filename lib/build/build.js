/**
 * Builds the published package: `dist/lib`, and in `dist/package` what is published of it.
 *
 * All code exists once, as CommonJS, which every loader can load. The ES module entries export that same copy, so a process
 * never has two copies of a class or an injection token.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundleCode, bundleDeclarations } from './bundle.js';
import { compile } from './compile.js';
import { writeEntries } from './entries.js';
import { DIST, MODULES, ROOT } from './folders.js';
import { writePackage } from './publish.js';

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

rmSync(DIST, { recursive: true, force: true });
compile();
const chunks = await bundleCode();
await bundleDeclarations();
writeEntries(chunks);
rmSync(MODULES, { recursive: true });
writePackage(manifest);
