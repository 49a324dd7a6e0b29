import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The last commit that runs everything in Redis as scripts. */
const COMMIT = 'd409c2e3b1aa60c4ccbfa3e458303f13e0311fac';

/** Builds are kept here from one run to the next. */
const KEPT = join(ROOT, 'temp', 'builds');

/**
 * Takes the library as it was from the history of this repository.
 *
 * @returns the folder of its sources
 * @throws Error if the history is not here, as in a shallow clone
 */
export function earlierBuild(): string {
  const folder = join(KEPT, COMMIT);
  if (!existsSync(folder)) unpack(folder);
  return join(folder, 'lib');
}

/** Into another folder first, so that an interrupted run leaves nothing half-done behind. */
function unpack(folder: string): void {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, maxBuffer: 1 << 28 });
  try {
    git('cat-file', '-e', `${COMMIT}^{commit}`);
  } catch (error) {
    const problem = `The commit ${COMMIT} is not in this clone, and these tests compare with it`;
    throw new Error(`${problem}: fetch the whole history (git fetch --unshallow).`, { cause: error });
  }
  mkdirSync(KEPT, { recursive: true });
  const unfinished = mkdtempSync(join(KEPT, 'unfinished-'));
  try {
    const archive = git('archive', COMMIT, 'lib');
    execFileSync('tar', ['-x', '-C', unfinished], { input: archive });
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    throw error;
  }
}
