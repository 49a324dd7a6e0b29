/** `npm run check:package` checks each built package with publint, and those with types with Are The Types Wrong. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { publishedPackages, readManifest, ROOT } from './packages.js';

const run = (...command) => execFileSync('npx', command, { cwd: ROOT, stdio: 'inherit' });

for (const { published } of publishedPackages()) {
  run('publint', '--strict', published);
  if (readManifest(join(ROOT, published)).types) run('attw', '--pack', published);
}
