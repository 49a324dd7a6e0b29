/**
 * Builds the published package. The library is compiled once, to CommonJS, which every loader can load. The ES module entries
 * export that same copy, so a process never has two copies of a class or an injection token. Declarations come in both
 * formats. The Lua files are embedded as text, because bundlers would leave them out.
 */
import console from 'node:console';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import process from 'node:process';
import { fileURLToPath, URL } from 'node:url';
import ts from 'typescript';

const LIB = import.meta.dirname;
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist', 'lib');
const CJS = join(DIST, 'cjs');
const ESM = join(DIST, 'esm');
/** The package as it is published. */
const PACKAGE = join(ROOT, 'dist', 'package');
/** Where the compiled library finds the peer modules that the ES module entries have imported. */
const PEERS = join(CJS, 'peers.js');

const ESM_DECLARATIONS = { outDir: ESM, emitDeclarationOnly: true };
const COMMONJS = {
  outDir: CJS,
  module: ts.ModuleKind.CommonJS,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  // The declarations pass has already checked the types.
  noCheck: true,
  verbatimModuleSyntax: false,
  esModuleInterop: true,
};

/** The module that reads Lua files from disk. */
const LUA_MODULE = join(LIB, 'store', 'lua-files.ts');
/** The module that reads the version of the package from disk. */
const VERSION_MODULE = join(LIB, 'cli', 'version.ts');

/** Peers that may be ES modules. Not every CommonJS loader can require one: jest can only on Node.js 24.9 and newer. */
const NEST_REQUIRE = /require\("(@nestjs\/[^"]+)"\)/g;
const OWN_REQUIRE = /require\("(\.[^"]+)"\)/g;

/** @type {ts.FormatDiagnosticsHost} */
const FORMAT_HOST = {
  getCanonicalFileName: (file) => file,
  getCurrentDirectory: () => ROOT,
  getNewLine: () => '\n',
};

rmSync(DIST, { recursive: true, force: true });
/** By path: the texts that take the place of modules which read from disk. */
const replacements = new Map([
  [LUA_MODULE, writeLuaModule()],
  [VERSION_MODULE, `export const VERSION: string = '${readManifest().version}';\n`],
]);
compile(ESM_DECLARATIONS, ts.sys.writeFile);
compile(COMMONJS, (file, text) => ts.sys.writeFile(file, takeGivenPeers(file, text)));
writeLines(join(CJS, 'package.json'), ['{ "type": "commonjs" }']);
writeLines(PEERS, [
  '"use strict";',
  '// The modules that the ES module entries have imported, by name.',
  'module.exports = {};',
]);
for (const entry of entries()) writeEntry(entry);
writePackage();

/** The same module, with all Lua texts embedded. */
function writeLuaModule() {
  const folder = dirname(LUA_MODULE);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.lua'));
  const texts = files.sort().map((file) => {
    const text = readFileSync(join(folder, file), 'utf8').replace(/[\\`]|\$\{/g, String.raw`\$&`);
    return `  '${file.replaceAll(sep, '/').replace(/\.lua$/, '')}': \`${text}\`,\n`;
  });
  return [
    `const TEXTS: Readonly<Record<string, string>> = {\n${texts.join('')}};\n`,
    'export function readLua(path: string): string {\n  return TEXTS[path]!;\n}\n',
  ].join('\n');
}

/** What only this project needs of the manifest would mislead those who install the package, and tools that audit them. */
function writePackage() {
  rmSync(PACKAGE, { recursive: true, force: true });
  cpSync(DIST, join(PACKAGE, relative(ROOT, DIST)), { recursive: true });
  for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md']) cpSync(join(ROOT, file), join(PACKAGE, file));
  const ours = ['private', 'workspaces', 'scripts', 'devDependencies', 'typedocOptions'];
  const published = Object.entries(readManifest()).filter(([field]) => !ours.includes(field));
  writeLines(join(PACKAGE, 'package.json'), [JSON.stringify(Object.fromEntries(published), null, 2)]);
}

function readManifest() {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
}

function compile(formatOptions, writeFile) {
  const { fileNames, options } = readConfig(formatOptions);
  const host = ts.createCompilerHost(options);
  const { readFile } = host;
  host.readFile = (file) => replacements.get(resolve(file)) ?? readFile(file);
  const program = ts.createProgram(fileNames, options, host);
  failOn([...ts.getPreEmitDiagnostics(program), ...program.emit(undefined, writeFile).diagnostics]);
}

function readConfig(options) {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (diagnostic) => failOn([diagnostic]) };
  const config = ts.getParsedCommandLineOfConfigFile(join(LIB, 'tsconfig.lib.json'), options, host);
  failOn(config.errors);
  return config;
}

function failOn(diagnostics) {
  if (diagnostics.length === 0) return;
  console.error(ts.formatDiagnosticsWithColorAndContext(diagnostics, FORMAT_HOST));
  process.exit(1);
}

/** Makes the compiled code use a peer that an ES module entry has imported, and require it only otherwise. */
function takeGivenPeers(file, text) {
  if (!file.endsWith('.js')) return text;
  const peers = pathBetween(file, PEERS);
  return text.replace(NEST_REQUIRE, (required, name) => `require("${peers}")["${name}"] ?? ${required}`);
}

/** The ES module entries that `package.json` exports. */
function entries() {
  const targets = Object.values(readManifest().exports).map((target) => target.import?.default);
  return targets.filter((target) => target !== undefined).map((target) => join(ROOT, target));
}

/**
 * The entry calls a function that requires the library, so that the peers are there first: jest runs imported CommonJS
 * modules before the ES modules beside them.
 */
function writeEntry(entry) {
  const library = join(CJS, relative(ESM, entry));
  const loader = library.replace(/\.js$/, '.load.js');
  const names = Object.keys(createRequire(import.meta.url)(library)).sort();
  const peers = [...peersOf(library)].map((name) => ({
    name,
    local: name.replace('@nestjs/', '').replace(/\W+/g, '_'),
  }));
  writeLines(loader, [
    '"use strict";',
    'module.exports = (peers) => {',
    `    Object.assign(require("${pathBetween(loader, PEERS)}"), peers);`,
    `    return require("${pathBetween(loader, library)}");`,
    '};',
  ]);
  writeLines(entry, [
    ...peers.map(({ name, local }) => `import * as ${local} from '${name}';`),
    `import load from '${pathBetween(entry, loader)}';`,
    `export const { ${names.join(', ')} } = load({`,
    ...peers.map(({ name, local }) => `    '${name}': ${local},`),
    '});',
  ]);
}

function peersOf(file, seen = new Set()) {
  if (seen.has(file)) return new Set();
  seen.add(file);
  const text = readFileSync(file, 'utf8');
  const found = new Set([...text.matchAll(NEST_REQUIRE)].map(([, name]) => name));
  for (const [, path] of text.matchAll(OWN_REQUIRE)) {
    for (const name of peersOf(resolve(dirname(file), path), seen)) found.add(name);
  }
  return found;
}

function pathBetween(from, to) {
  const path = relative(dirname(from), to).replaceAll(sep, '/');
  return path.startsWith('.') ? path : `./${path}`;
}

function writeLines(file, lines) {
  writeFileSync(file, `${lines.join('\n')}\n`);
}
