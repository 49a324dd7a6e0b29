import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Lists what git has of the project, changed and new files included. */
export function filesOf(project: string): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard'];
  const { stdout, status, stderr } = spawnSync('git', args, { cwd: project, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ls-files fails: ${stderr}`);
  const files = new Set(stdout.split('\n').filter((file) => file && file !== 'node_modules'));
  return [...files].filter((file) => existsSync(join(project, file))).sort();
}

/** Tells whether files are the same as at another time. */
export function digestOf(project: string, files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(project, file)));
  return hash.digest('hex').slice(0, 12);
}

/** Copies files of the project to a new folder, and links its packages there. */
export function copyTo(tree: string, project: string, files: readonly string[]): void {
  for (const file of files) cpSync(join(project, file), join(tree, file), { recursive: true });
  symlinkSync(join(project, 'node_modules'), join(tree, 'node_modules'));
}

/**
 * Copies the project to a path that is the same for each run, so that jest finds what it compiled before. The copy is removed when
 * this process exits.
 *
 * @throws Error if there is a copy already
 */
export function copyOf(project: string, files: readonly string[]): string {
  const folder = join(tmpdir(), `mutants-of-${createHash('sha256').update(project).digest('hex').slice(0, 12)}`);
  if (existsSync(folder)) {
    throw new Error(`${folder} exists: another run uses it, or was killed. If none uses it, remove it.`);
  }
  process.once('exit', () => rmSync(folder, { recursive: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  const tree = join(folder, 'tree');
  copyTo(tree, project, files);
  return tree;
}
