import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, URL } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const LIB = join(ROOT, 'lib');
export const DIST = join(ROOT, 'dist', 'lib');
/** Where all code is. */
export const CJS = join(DIST, 'cjs');
/** Where the ES module entries are. */
export const ESM = join(DIST, 'esm');
/** The compiled modules and their declarations, before they are bundled. */
export const MODULES = join(DIST, 'modules');
/** The package as it is published. */
export const PACKAGE = join(ROOT, 'dist', 'package');

/** The entries of the package: every folder of the library with an `index.ts` is one. */
export const ENTRIES = ['index', ...readdirSync(LIB).map((folder) => `${folder}/index`)].filter((entry) =>
  existsSync(join(LIB, `${entry}.ts`)),
);

/** As `require` and `import` want it. */
export function pathBetween(from, to) {
  const path = relative(dirname(from), to).replaceAll(sep, '/');
  return path.startsWith('.') ? path : `./${path}`;
}

export function writeLines(file, lines) {
  writeFileSync(file, `${lines.join('\n')}\n`);
}
