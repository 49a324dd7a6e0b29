import console from 'node:console';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import process from 'node:process';
import ts from 'typescript';
import { LIB, MODULES, ROOT } from './folders.js';

/** The modules that read the Lua files of their folders from disk. */
const LUA_MODULES = readdirSync(LIB, { recursive: true, encoding: 'utf8' })
  .filter((file) => basename(file) === 'lua-files.ts')
  .map((file) => join(LIB, file));

const DECLARATIONS = { outDir: MODULES, emitDeclarationOnly: true };
const CODE = {
  outDir: MODULES,
  declaration: false,
  // The comments are in the sources that the source maps contain, and in the declarations.
  removeComments: true,
  sourceMap: true,
  inlineSources: true,
  // The declarations pass has already checked the types.
  noCheck: true,
};

/** @type {ts.FormatDiagnosticsHost} */
const FORMAT_HOST = {
  getCanonicalFileName: (file) => file,
  getCurrentDirectory: () => ROOT,
  getNewLine: () => '\n',
};

/** Compiles each module of the library, with the Lua texts in the modules that read them from disk. */
export function compile() {
  /** By path: the texts that take the place of modules which read from disk. */
  const replacements = new Map(LUA_MODULES.map((module) => [module, writeLuaModule(dirname(module))]));
  for (const format of [DECLARATIONS, CODE]) emit(format, replacements);
}

/** The same module, with all Lua texts of its folder embedded: bundlers would leave the files out. */
function writeLuaModule(folder) {
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

function emit(formatOptions, replacements) {
  const { fileNames, options } = readConfig(formatOptions);
  const host = ts.createCompilerHost(options);
  const { readFile } = host;
  host.readFile = (file) => replacements.get(resolve(file)) ?? readFile(file);
  const program = ts.createProgram(fileNames, options, host);
  failOn([...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics]);
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
