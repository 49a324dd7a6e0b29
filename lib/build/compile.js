import console from 'node:console';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import process from 'node:process';
import ts from 'typescript';
import { ROOT } from './folders.js';

const DECLARATIONS = { emitDeclarationOnly: true };
const CODE = {
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

/** Compiles each module of a package, with the Lua texts and the version in the modules that read them from disk. */
export function compile({ sources, config, modules }) {
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' });
  const named = (name) => files.filter((file) => basename(file) === name).map((file) => join(sources, file));
  /** By path: the texts that take the place of modules which read from disk. */
  const replacements = new Map([
    ...named('lua-files.ts').map((module) => [module, writeLuaModule(dirname(module))]),
    ...named('version.ts').map((module) => [module, writeVersionModule()]),
  ]);
  for (const format of [DECLARATIONS, CODE]) emit(config, { ...format, outDir: modules }, replacements);
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

function writeVersionModule() {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return `export const VERSION = ${JSON.stringify(version)};\n`;
}

function emit(config, formatOptions, replacements) {
  const { fileNames, options } = readConfig(config, formatOptions);
  const host = ts.createCompilerHost(options);
  const { readFile } = host;
  host.readFile = (file) => replacements.get(resolve(file)) ?? readFile(file);
  const program = ts.createProgram(fileNames, options, host);
  failOn([...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics]);
}

function readConfig(file, options) {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (diagnostic) => failOn([diagnostic]) };
  const config = ts.getParsedCommandLineOfConfigFile(file, options, host);
  failOn(config.errors);
  return config;
}

function failOn(diagnostics) {
  if (diagnostics.length === 0) return;
  console.error(ts.formatDiagnosticsWithColorAndContext(diagnostics, FORMAT_HOST));
  process.exit(1);
}
