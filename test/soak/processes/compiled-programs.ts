import { transformFileSync } from '@swc/core';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SOURCES = ['lib', 'test/soak', 'test/support'];

/**
 * The sources as they are now, as JavaScript. A process that compiles while it starts takes seconds of a busy machine, and
 * a nemesis starts hundreds; nor should those of one run differ because a file was edited meanwhile.
 */
export class CompiledPrograms {
  readonly #folder: string;

  constructor() {
    // Inside of the project, where Node.js finds what is imported.
    mkdirSync(join(ROOT, 'temp'), { recursive: true });
    this.#folder = mkdtempSync(join(ROOT, 'temp', 'soak-'));
    for (const source of SOURCES) this.#compile(source);
  }

  /** @param name - of a program beside this file */
  pathOf(name: string): string {
    return join(this.#folder, 'test/soak/processes', `${name}.program.js`);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #compile(source: string): void {
    const entries = readdirSync(join(ROOT, source), { recursive: true, withFileTypes: true });
    for (const entry of entries) {
      const file = join(entry.parentPath, entry.name);
      const target = join(this.#folder, file.slice(ROOT.length));
      if (!entry.isFile() || entry.name.endsWith('.test.ts')) continue;
      mkdirSync(dirname(target), { recursive: true });
      if (extname(file) === '.lua') copyFileSync(file, target);
      if (extname(file) !== '.ts') continue;
      const { code } = transformFileSync(file, { configFile: join(ROOT, '.swcrc'), sourceMaps: 'inline' });
      writeFileSync(target.replace(/ts$/, 'js'), code);
    }
  }
}
