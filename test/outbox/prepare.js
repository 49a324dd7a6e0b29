/** Installs the database libraries that the tests of the outbox need, in a folder of their own. */
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath, URL } from 'node:url';

const libraries = fileURLToPath(new URL('./libraries/', import.meta.url));

/** npm keeps a lock file of what it has installed. */
function isInstalled() {
  const [wanted, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map((file) => libraries + file);
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(wanted).mtimeMs;
}

if (!isInstalled()) {
  const args = ['ci', '--no-audit', '--no-fund', '--ignore-scripts'];
  execFileSync('npm', args, { cwd: libraries, stdio: ['ignore', 'ignore', 'inherit'] });
}
