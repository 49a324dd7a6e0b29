/** Installs the packages of the benchmark unless they are there. The tests of what the documentation says of them need them, too. */
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath, URL } from 'node:url';

const bench = fileURLToPath(new URL('.', import.meta.url));

/** npm keeps a lock file of what it has installed. */
function isInstalled() {
  const [wanted, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map((file) => `${bench}${file}`);
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(wanted).mtimeMs;
}

if (!isInstalled()) {
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: bench, stdio: ['ignore', 'ignore', 'inherit'] });
}
