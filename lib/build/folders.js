import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, URL } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Describes a package that is built.
 *
 * @param sources - the folder of its sources
 * @param config - how TypeScript compiles them
 * @param dist - the folder that is built
 * @param entries - by their paths in both folders
 */
export function describePackage({ sources, config, dist, entries }) {
  return {
    sources,
    config,
    dist,
    entries,
    /** Where all code is. */
    cjs: join(dist, 'cjs'),
    /** Where the ES module entries are. */
    esm: join(dist, 'esm'),
    /** The compiled modules and their declarations, before they are bundled. */
    modules: join(dist, 'modules'),
  };
}

const LIB = join(ROOT, 'lib');

export const LIBRARY = describePackage({
  sources: LIB,
  config: join(LIB, 'tsconfig.lib.json'),
  dist: join(ROOT, 'dist', 'lib'),
  // Every folder of the library with an `index.ts` is one.
  entries: ['index', ...readdirSync(LIB).map((folder) => `${folder}/index`)].filter((entry) =>
    existsSync(join(LIB, `${entry}.ts`)),
  ),
});

/** As `require` and `import` want it. */
export function pathBetween(from, to) {
  const path = relative(dirname(from), to).replaceAll(sep, '/');
  return path.startsWith('.') ? path : `./${path}`;
}

export function writeLines(file, lines) {
  writeFileSync(file, `${lines.join('\n')}\n`);
}
