import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import { pathBetween, ROOT, writeLines } from './folders.js';

/** Bundled with the library: it is less than a copy of the package, and a user may have another one. */
const BUNDLED = 'zod';
const BUNDLED_ENTRY = 'zod/mini';

/** What all entries share. The first pattern that fits decides. */
const SHARED = [
  { name: 'zod', pattern: /^node_modules\/zod\// },
  { name: 'lua', pattern: /^(redis\/script|store\/native)\/lua-files\b/ },
  { name: 'core', pattern: /./ },
];

/** TypeScript's decorator helpers look for one of an earlier module in `this`; the circles and annotations are those of zod. */
const HARMLESS = ['THIS_IS_UNDEFINED', 'INVALID_ANNOTATION', 'CIRCULAR_DEPENDENCY'];

/** Where the bundled library finds the peer modules that the ES module entries have imported. */
export const PEERS = 'peers.js';
/**
 * Peers that are, or need, ES modules. Not every CommonJS loader can require one: jest can only on Node.js 24.9 and newer.
 */
const PEER = /^(@nestjs\/|nestjs-delay-queue\b)/;
const REQUIRE = /require\('([^']+)'\)/g;

export const isGivenPeer = (name) => PEER.test(name);

/** @returns the files with code */
export async function bundleCode(built) {
  const { modules, cjs } = built;
  const bundle = await rollup({
    input: inputOf(built, '.js'),
    external: (id) => isPackage(id) && id !== BUNDLED_ENTRY,
    plugins: [moduleFiles(modules), takeGivenPeers(), mapCompiledCode()],
    onwarn: fail,
  });
  const { output } = await bundle.write({
    dir: cjs,
    format: 'cjs',
    interop: 'auto',
    exports: 'named',
    hoistTransitiveImports: false,
    minifyInternalExports: false,
    sourcemap: true,
    sourcemapPathTransform: (source, map) => pathInPackage(built, resolve(dirname(map), source)),
    chunkFileNames: '[name].js',
    manualChunks: (id) => chunkOf(built, id),
    banner: ({ name }) => (name === BUNDLED ? licence() : ''),
  });
  await bundle.close();
  writeLines(join(cjs, 'package.json'), ['{ "type": "commonjs" }']);
  writeLines(join(cjs, PEERS), [
    '"use strict";',
    '// The modules that the ES module entries have imported, by name.',
    'module.exports = {};',
  ]);
  return output.filter(({ type }) => type === 'chunk');
}

/** In both formats, because only a declaration of an ES module may mention Nest 12 under every compiler. */
export async function bundleDeclarations(built) {
  const bundle = await rollup({
    input: inputOf(built, '.d.ts'),
    external: isPackage,
    plugins: [dts({ respectExternal: true })],
    onwarn: fail,
  });
  for (const dir of [built.cjs, built.esm]) {
    await bundle.write({
      dir,
      format: 'es',
      hoistTransitiveImports: false,
      minifyInternalExports: false,
      chunkFileNames: '[name].d.ts',
      manualChunks: (id) => (isOfEntry(built, id) ? undefined : 'core'),
    });
  }
  await bundle.close();
}

function inputOf({ entries, modules }, extension) {
  return Object.fromEntries(entries.map((entry) => [entry, join(modules, `${entry}${extension}`)]));
}

/** Whoever distributes the code must hand it on. */
function licence() {
  return `/*!\n${readFileSync(join(ROOT, 'node_modules', BUNDLED, 'LICENSE'), 'utf8')}*/`;
}

function isPackage(id) {
  return !/^[./]/.test(id) && !resolve(id).startsWith(id);
}

/** Undefined: the file of the entry that needs it. */
function chunkOf(built, id) {
  return isOfEntry(built, id) ? undefined : SHARED.find(({ pattern }) => pattern.test(pathOf(built, id))).name;
}

/** True if nothing but one entry needs it: all that there is if there is one entry, else what is in the folder of one. */
function isOfEntry(built, id) {
  const folders = built.entries.map((entry) => entry.split('/')[0]);
  return built.entries.length === 1 || folders.includes(pathOf(built, id).split(/[/.]/)[0]);
}

/** In the package, or in the project. */
function pathOf({ modules }, id) {
  return relative(id.startsWith(modules) ? modules : ROOT, id).replaceAll(sep, '/');
}

/** As it is in the repository, where those who look for the source find it. */
function pathInPackage({ sources, modules, cjs }, file) {
  return relative(cjs, file.startsWith(modules) ? file.replace(modules, sources) : file);
}

/** Loads the compiled modules with their source maps, and finds the package that is bundled. */
function moduleFiles(modules) {
  return {
    name: 'module-files',
    resolveId: (id) => (id === BUNDLED_ENTRY ? fileURLToPath(import.meta.resolve(id)) : null),
    load(file) {
      if (!file.startsWith(modules)) return null;
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
        if (chunk) chunk.code = chunk.code.replace(/^\/\/# sourceMappingURL=.*\n/m, '');
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
        code: code.replace(REQUIRE, (required, name) =>
          isGivenPeer(name) ? `require('${peers}')['${name}'] ?? ${required}` : required,
        ),
        map: null,
      };
    },
  };
}

/** What is only a warning elsewhere would surprise those who install the package. */
function fail({ code, message }) {
  if (!HARMLESS.includes(code)) throw new Error(message);
}
