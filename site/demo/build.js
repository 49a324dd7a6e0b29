/**
 * Bundles the demonstration of the landing page: the library itself, from its sources, in a Nest application that runs in the
 * browser. The store in memory needs little of Node.js, and `node/` has that little; everything else that Nest imports is never
 * called.
 */
import { existsSync } from 'node:fs';
import { builtinModules, createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, URL } from 'node:url';
import { build } from 'esbuild';
import { ROOT, SITE } from '../build/folders.js';

const rootRequire = createRequire(join(ROOT, 'package.json'));
const { transformFile } = rootRequire('@swc/core');

const NODE = fileURLToPath(new URL('./node', import.meta.url));
const ENTRY = fileURLToPath(new URL('./shop.ts', import.meta.url));

/** Packages that a browser never needs: Nest asks for some of them, and the store in Redis for the other. */
const UNUSED =
  /^(@nestjs\/(microservices|websockets|platform-express)(\/.*)?|ioredis|class-(transformer|validator)(\/.*)?)$/;

/** What sends the Lua scripts to Redis. */
const SCRIPTS = /lib\/redis\/script\/redis-script\.ts$/;

const replaceNode = {
  name: 'replace-node',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[^.]/ }, ({ path }) => {
      const name = path.replace(/^node:/, '');
      if (UNUSED.test(path)) return { path, namespace: 'unused' };
      if (!builtinModules.includes(name)) return undefined;
      const file = join(NODE, `${name.replace('/', '-')}.js`);
      return existsSync(file) ? { path: file } : { path, namespace: 'unused' };
    });
    onResolve({ filter: /^nestjs-delay-queue$/ }, () => ({ path: join(ROOT, 'lib/index.ts') }));
    onLoad({ filter: /./, namespace: 'unused' }, () => ({
      contents: `module.exports = require(${JSON.stringify(join(NODE, 'unused.cjs'))});`,
      resolveDir: NODE,
    }));
  },
};

/** As the tests compile it: Nest injects by the metadata of decorators, which esbuild does not write. */
const compileDecorators = {
  name: 'compile-decorators',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^\..*\.js$/ }, ({ path, resolveDir }) => {
      const source = join(resolveDir, path.replace(/\.js$/, '.ts'));
      if (SCRIPTS.test(source)) return { path: source, namespace: 'unused' };
      return existsSync(source) ? { path: source } : undefined;
    });
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const { code } = await transformFile(path, { configFile: join(ROOT, '.swcrc'), sourceMaps: false });
      return { contents: code, loader: 'js' };
    });
  },
};

/** @returns the size of the bundle in bytes */
export async function buildDemo() {
  const { metafile } = await build({
    entryPoints: [ENTRY],
    outfile: join(SITE, 'public/demo.js'),
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    minify: true,
    // Providers are told apart, and logged, by the names of their classes.
    keepNames: true,
    metafile: true,
    legalComments: 'linked',
    conditions: ['module', 'import', 'browser'],
    nodePaths: [join(ROOT, 'node_modules'), join(SITE, 'node_modules')],
    inject: [join(NODE, 'globals.js')],
    define: { global: 'globalThis' },
    plugins: [replaceNode, compileDecorators],
    logLevel: 'warning',
  });
  return Object.values(metafile.outputs).reduce((sum, { bytes }) => sum + bytes, 0);
}
