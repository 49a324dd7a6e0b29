import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import { CJS, ENTRIES, ESM, MODULES, pathBetween, ROOT, writeLines } from './folders.js';

/** Bundled with the library: it is less than a copy of the package, and a user may have another one. */
const BUNDLED = 'zod';
const BUNDLED_ENTRY = 'zod/mini';

/** What is in the file of an entry. */
const OF_ENTRIES = new RegExp(`^(${ENTRIES.map((entry) => entry.split('/')[0]).join('|')})\\b`);

/** What all entries share. The first pattern that fits decides. */
const CHUNKS = [
  { name: 'zod', pattern: /^node_modules\/zod\// },
  { name: 'lua', pattern: /^(redis\/script|store\/native)\/lua-files\b/ },
  { name: undefined, pattern: OF_ENTRIES },
  { name: 'core', pattern: /./ },
];

/** TypeScript's decorator helpers look for one of an earlier module in `this`; the circles and annotations are those of zod. */
const HARMLESS = ['THIS_IS_UNDEFINED', 'INVALID_ANNOTATION', 'CIRCULAR_DEPENDENCY'];

/** Where the bundled library finds the peer modules that the ES module entries have imported. */
export const PEERS = 'peers.js';
/** Peers that may be ES modules. Not every CommonJS loader can require one: jest can only on Node.js 24.9 and newer. */
const NEST_REQUIRE = /require\('(@nestjs\/[^']+)'\)/g;

/** @returns the files with code */
export async function bundleCode() {
  const bundle = await rollup({
    input: inputOf(ENTRIES, '.js'),
    external: (id) => isPackage(id) && id !== BUNDLED_ENTRY,
    plugins: [moduleFiles(), takeGivenPeers(), mapCompiledCode()],
    onwarn: fail,
  });
  const { output } = await bundle.write({
    dir: CJS,
    format: 'cjs',
    interop: 'auto',
    exports: 'named',
    hoistTransitiveImports: false,
    minifyInternalExports: false,
    sourcemap: true,
    sourcemapPathTransform: (source, map) => pathInPackage(resolve(dirname(map), source)),
    chunkFileNames: '[name].js',
    manualChunks: chunkOf,
    banner: ({ name }) => (name === BUNDLED ? licence() : ''),
  });
  await bundle.close();
  writeLines(join(CJS, 'package.json'), ['{ "type": "commonjs" }']);
  writeLines(join(CJS, PEERS), [
    '"use strict";',
    '// The modules that the ES module entries have imported, by name.',
    'module.exports = {};',
  ]);
  return output.filter(({ type }) => type === 'chunk');
}

/** In both formats, because only a declaration of an ES module may mention Nest 12 under every compiler. */
export async function bundleDeclarations() {
  const bundle = await rollup({
    input: inputOf(ENTRIES, '.d.ts'),
    external: isPackage,
    plugins: [dts({ respectExternal: true })],
    onwarn: fail,
  });
  for (const dir of [CJS, ESM]) {
    await bundle.write({
      dir,
      format: 'es',
      hoistTransitiveImports: false,
      minifyInternalExports: false,
      chunkFileNames: '[name].d.ts',
      manualChunks: (id) => (OF_ENTRIES.test(pathOf(id)) ? undefined : 'core'),
    });
  }
  await bundle.close();
}

function inputOf(entries, extension) {
  return Object.fromEntries(entries.map((entry) => [entry, join(MODULES, `${entry}${extension}`)]));
}

/** Whoever distributes the code must hand it on. */
function licence() {
  return `/*!\n${readFileSync(join(ROOT, 'node_modules', BUNDLED, 'LICENSE'), 'utf8')}*/`;
}

function isPackage(id) {
  return !/^[./]/.test(id) && !resolve(id).startsWith(id);
}

function chunkOf(id) {
  return CHUNKS.find(({ pattern }) => pattern.test(pathOf(id))).name;
}

/** In the library, or in the project. */
function pathOf(id) {
  return relative(id.startsWith(MODULES) ? MODULES : ROOT, id).replaceAll(sep, '/');
}

/** As it is in the repository, where those who look for the source find it. */
function pathInPackage(file) {
  return relative(CJS, file.startsWith(MODULES) ? file.replace(MODULES, join(ROOT, 'lib')) : file);
}

/** Loads the compiled modules with their source maps, and finds the package that is bundled. */
function moduleFiles() {
  return {
    name: 'module-files',
    resolveId: (id) => (id === BUNDLED_ENTRY ? fileURLToPath(import.meta.resolve(id)) : null),
    load(file) {
      if (!file.startsWith(MODULES)) return null;
      return { code: readFileSync(file, 'utf8'), map: readFileSync(`${file}.map`, 'utf8') };
    },
  };
}

/** Leaves out the source maps of what is not compiled: the package that is bundled, and the texts of the Lua files. */
function mapCompiledCode() {
  return {
    name: 'map-compiled-code',
    generateBundle(_, files) {
      for (const name of [BUNDLED, 'lua']) {
        delete files[`${name}.js.map`];
        const chunk = files[`${name}.js`];
        chunk.code = chunk.code.replace(/^\/\/# sourceMappingURL=.*\n/m, '');
      }
    },
  };
}

/** Makes the code use a peer that an ES module entry has imported, and require it only otherwise. */
function takeGivenPeers() {
  return {
    name: 'take-given-peers',
    renderChunk(code, { fileName }) {
      const peers = pathBetween(fileName, PEERS);
      return {
        code: code.replace(NEST_REQUIRE, (required, name) => `require('${peers}')['${name}'] ?? ${required}`),
        map: null,
      };
    },
  };
}

/** What is only a warning elsewhere would surprise those who install the package. */
function fail({ code, message }) {
  if (!HARMLESS.includes(code)) throw new Error(message);
}
