/** Builds the library: `dist/lib`, and in `dist/package` what is published of it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildPackage } from './build-package.js';
import { LIBRARY, ROOT } from './folders.js';
import { writePackage } from './publish.js';

await buildPackage(LIBRARY);
writePackage(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));
