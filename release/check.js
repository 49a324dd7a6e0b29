/**
 * `npm run check:package` checks each built package with publint, and those with types with Are The Types Wrong, and fails if npm would
 * correct a manifest when it publishes it, a layout goes with another version of the library, or a dependency has an unusual licence.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { checkPeersOfLayouts } from './layout-peers.js';
import { checkLicences } from './licences.js';
import { publishedPackages, readManifest, ROOT } from './packages.js';

const run = (...command) => execFileSync('npx', command, { cwd: ROOT, stdio: 'inherit' });

const packages = publishedPackages();
checkPeersOfLayouts(packages, ({ published }) => readManifest(join(ROOT, published)));
for (const { folder } of packages) checkLicences(join(ROOT, folder));
for (const { published } of packages) {
  run('publint', '--strict', published);
  if (readManifest(join(ROOT, published)).types) run('attw', '--pack', published);
  const { stderr } = spawnSync('npm', ['publish', '--dry-run'], { cwd: join(ROOT, published), encoding: 'utf8' });
  if (stderr.includes('auto-corrected')) throw new Error(`npm would change the manifest in ${published}:\n${stderr}`);
}
