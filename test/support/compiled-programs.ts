import { transformFileSync } from '@swc/core';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PACKAGES = ['board', 'bull-board', 'cli', 'outbox', 'redisson'];
const SOURCES = [
  ...['lib', 'test', 'sample-app', join('packages', 'redisson', 'test')],
  ...PACKAGES.map((name) => join('packages', name, 'src')),
];

/** Packages that only some programs need, in a folder of their own. */
const INSTALLED = [join('test', 'outbox', 'libraries', 'node_modules')];

/** Files that are read where they are. */
const ASSETS = ['.lua', '.html', '.css', '.js', '.svg', '.txt'];

interface Published {
  readonly name: string;
  readonly exports: object;
}

/**
 * The sources as they are now, as JavaScript. A process that compiles while it starts takes seconds of a busy machine, and
 * tests start hundreds; nor should those of one run differ because a file was edited meanwhile.
 */
export class CompiledPrograms {
  readonly folder: string;

  constructor() {
    // Inside of the project, where Node.js finds what is imported.
    mkdirSync(join(ROOT, 'temp'), { recursive: true });
    this.folder = mkdtempSync(join(ROOT, 'temp', 'programs-'));
    for (const source of SOURCES) this.#compile(source);
    // The library and the command line read their versions there.
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    writeFileSync(join(this.folder, 'package.json'), JSON.stringify({ type: 'module', version }));
    copyFileSync(join(ROOT, 'packages/cli/package.json'), join(this.folder, 'packages/cli/package.json'));
    this.#standForPackage(ROOT, join(this.folder, 'lib'));
    for (const name of ['board', 'bull-board', 'outbox', 'redisson']) {
      this.#standForPackage(join(ROOT, 'packages', name), join(this.folder, 'packages', name, 'src'));
    }
    for (const folder of INSTALLED) {
      if (existsSync(join(ROOT, folder))) symlinkSync(join(ROOT, folder), join(this.folder, folder));
    }
  }

  /** @param file - a TypeScript file among the sources */
  pathOf(file: URL): string {
    return compiledPath(this.folder, file);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #compile(source: string): void {
    const entries = readdirSync(join(ROOT, source), { recursive: true, withFileTypes: true });
    for (const entry of entries) {
      const file = join(entry.parentPath, entry.name);
      if (INSTALLED.some((folder) => file.startsWith(join(ROOT, folder)))) continue;
      const target = join(this.folder, relative(ROOT, file));
      if (!entry.isFile() || /\.(test|tools|programs)\.ts$/.test(entry.name)) continue;
      mkdirSync(dirname(target), { recursive: true });
      if (ASSETS.includes(extname(file))) copyFileSync(file, target);
      if (extname(file) !== '.ts') continue;
      const { code } = transformFileSync(file, { configFile: join(ROOT, '.swcrc'), sourceMaps: 'inline' });
      writeFileSync(target.replace(/ts$/, 'js'), code);
    }
  }

  /** The sample application imports our packages by their names, which are to be the code compiled here. */
  #standForPackage(source: string, compiled: string): void {
    const published = manifestIn(source);
    const folder = join(this.folder, 'node_modules', published.name);
    const entries = Object.keys(published.exports).filter((entry) => /^\.(\/[\w-]+)*$/.test(entry));
    const exports = Object.fromEntries(entries.map((entry) => [entry, `${entry}/index.js`]));
    for (const entry of entries) {
      mkdirSync(join(folder, entry), { recursive: true });
      const library = join(compiled, entry, 'index.js');
      writeFileSync(join(folder, entry, 'index.js'), `export * from '${pathToFileURL(library).href}';\n`);
    }
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', exports }));
  }
}

function manifestIn(folder: string): Published {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Published;
}

/** Returns the path of a compiled source. */
export function compiledPath(folder: string, file: URL): string {
  return join(folder, relative(ROOT, fileURLToPath(file))).replace(/ts$/, 'js');
}
