/** Builds the package, as the library is built. It needs the declarations of the library. */
import { join } from 'node:path';
import { fileURLToPath, URL } from 'node:url';
import { buildPackage } from '../../lib/build/build-package.js';
import { describePackage } from '../../lib/build/folders.js';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));

await buildPackage(
  describePackage({
    sources: join(FOLDER, 'src'),
    config: join(FOLDER, 'tsconfig.bundle.json'),
    dist: join(FOLDER, 'dist'),
    entries: ['index'],
  }),
);
