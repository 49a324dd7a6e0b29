import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Installs the packages of a folder that the root's `npm ci` leaves out, unless they are there. */
export function install(folder) {
  if (isInstalled(folder)) return;
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** npm keeps a lock file of what it has installed. */
function isInstalled(folder) {
  const [wanted, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map((file) =>
    join(folder, file),
  );
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(wanted).mtimeMs;
}
