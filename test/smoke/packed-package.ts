import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const PROJECT = resolve(import.meta.dirname, '../..');

/** The folders with the published files of each package, once built. */
const PUBLISHED = {
  library: join(PROJECT, 'dist', 'package'),
  board: join(PROJECT, 'packages', 'board'),
  cli: join(PROJECT, 'packages', 'cli'),
  outbox: join(PROJECT, 'packages', 'outbox'),
  redisson: join(PROJECT, 'packages', 'redisson'),
};

/** The package as it would be published. */
export interface PackedPackage {
  readonly tarball: string;
  /** Paths inside the package. */
  readonly files: readonly string[];
  /** Where one of its files was built. */
  built(path: string): string;
  remove(): Promise<void>;
}

/** Packs a built package. */
export async function packPackage(name: keyof typeof PUBLISHED = 'library'): Promise<PackedPackage> {
  const published = PUBLISHED[name];
  const folder = await mkdtemp(join(tmpdir(), 'packed-'));
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: published });
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  return {
    tarball: join(folder, packed.filename),
    files: packed.files.map(({ path }) => path),
    built: (path) => join(published, path),
    remove: () => rm(folder, { recursive: true }),
  };
}
