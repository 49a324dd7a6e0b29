import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a simulation needs of the project. */
const NEEDED = ['lib', 'test/simulation', 'package.json', 'tsconfig.json'];

/** Copies of the project that may be changed, in a temporary folder. */
export class Trees {
  readonly #folder: string;
  readonly #paths: readonly string[];

  /**
   * @param project - its folder
   * @param paths - what each copy has of it; by default, what a simulation needs
   * @param folder - where the copies are; by default, a new one
   */
  constructor(
    private readonly project: string,
    { paths, folder }: { readonly paths?: readonly string[]; readonly folder?: string } = {},
  ) {
    this.#paths = paths ?? NEEDED;
    this.#folder = folder ?? mkdtempSync(join(tmpdir(), 'planted-'));
  }

  /** @param name - of the copy; no other has it */
  copy(name: string): string {
    const tree = join(this.#folder, name);
    for (const path of this.#paths) cpSync(join(this.project, path), join(tree, path), { recursive: true });
    symlinkSync(join(this.project, 'node_modules'), join(tree, 'node_modules'));
    return tree;
  }

  /** @returns why it does not apply; undefined: it does */
  apply(patch: string, tree: string): string | undefined {
    const env = { ...process.env, GIT_CEILING_DIRECTORIES: this.#folder };
    const { status, stderr } = spawnSync('git', ['apply', patch], { cwd: tree, env, encoding: 'utf8' });
    return status === 0 ? undefined : stderr.trim();
  }

  remove(tree: string): void {
    rmSync(tree, { recursive: true });
  }

  removeAll(): void {
    rmSync(this.#folder, { recursive: true });
  }
}
