import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const PROJECT = resolve(import.meta.dirname, '../..');

/** Where the build puts what is published. */
const PUBLISHED = join(PROJECT, 'dist', 'package');

/** The package as it would be published. */
export interface PackedPackage {
  readonly tarball: string;
  /** Paths inside the package. */
  readonly files: readonly string[];
  /** Where one of its files was built. */
  built(path: string): string;
  remove(): Promise<void>;
}

/** Packs the built library. */
export async function packPackage(): Promise<PackedPackage> {
  const folder = await mkdtemp(join(tmpdir(), 'packed-'));
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: PUBLISHED });
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  return {
    tarball: join(folder, packed.filename),
    files: packed.files.map(({ path }) => path),
    built: (path) => join(PUBLISHED, path),
    remove: () => rm(folder, { recursive: true }),
  };
}
