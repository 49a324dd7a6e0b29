import { transformFileSync } from '@swc/core';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CompiledPrograms } from '../../support/compiled-programs.js';

/** The compiled folders and files that a simulation needs. */
const NEEDED = ['lib', 'test/simulation', 'package.json'];

/** Compiled copies of the project in a temporary folder, which patches change. */
export class CompiledTrees {
  readonly #folder = mkdtempSync(join(tmpdir(), 'planted-'));
  readonly #compiled = join(this.#folder, 'compiled');

  /** @param project - its folder */
  constructor(private readonly project: string) {
    const programs = new CompiledPrograms();
    for (const path of NEEDED) cpSync(join(programs.folder, path), join(this.#compiled, path), { recursive: true });
    programs.remove();
  }

  /** @param name - of the copy; no other has it */
  copy(name: string): string {
    const tree = join(this.#folder, name);
    cpSync(this.#compiled, tree, { recursive: true });
    symlinkSync(join(this.project, 'node_modules'), join(tree, 'node_modules'));
    return tree;
  }

  /** @returns why it does not apply; undefined: it does */
  apply(patch: string, tree: string): string | undefined {
    const sources = join(tree, 'sources');
    const files = [...readFileSync(patch, 'utf8').matchAll(/^\+\+\+ b\/(\S+)$/gm)].map(([, file]) => file!);
    for (const file of files) {
      mkdirSync(dirname(join(sources, file)), { recursive: true });
      cpSync(join(this.project, file), join(sources, file));
    }
    const env = { ...process.env, GIT_CEILING_DIRECTORIES: this.#folder };
    const { status, stderr } = spawnSync('git', ['apply', patch], { cwd: sources, env, encoding: 'utf8' });
    if (status !== 0) return stderr.trim();
    for (const file of files) {
      const { code } = transformFileSync(join(sources, file), { configFile: join(this.project, '.swcrc') });
      writeFileSync(join(tree, file.replace(/ts$/, 'js')), code);
    }
    return undefined;
  }

  remove(tree: string): void {
    rmSync(tree, { recursive: true });
  }

  removeAll(): void {
    rmSync(this.#folder, { recursive: true });
  }
}
