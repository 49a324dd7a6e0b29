/** Installs the database libraries that the tests of the outbox need, in a folder of their own. */
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath, URL } from 'node:url';

const libraries = fileURLToPath(new URL('./libraries/', import.meta.url));

/** npm keeps a lock file of what it has installed. */
function isInstalled() {
  const [wanted, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map((file) => libraries + file);
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(wanted).mtimeMs;
}

if (!isInstalled()) {
  const args = ['ci', '--no-audit', '--no-fund', '--ignore-scripts'];
  const options = { cwd: libraries, stdio: ['ignore', 'ignore', 'inherit'] };
  execFileSync('npm', args, options);
  // Generating a client needs no engine, but looks for one, and would download it.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath };
  execFileSync('npx', ['prisma', 'generate', '--schema', 'prisma/schema.prisma'], { ...options, env });
}
