/**
 * `npm run release:publish` publishes every package whose version npm does not have yet, the library first. It may be run again after a
 * failure. Its arguments go to `npm publish`.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import console from 'node:console';
import { join } from 'node:path';
import process from 'node:process';
import { publishedPackages, readManifest, ROOT } from './packages.js';

for (const { name, folder, published } of publishedPackages()) {
  const { version } = readManifest(join(ROOT, published));
  if (version !== readManifest(join(ROOT, folder)).version)
    throw new Error(`${name} is not built: run npm run build:packages.`);
  if (isOnNpm(name, version)) {
    console.log(`${name}@${version} is on npm already`);
    continue;
  }
  const args = ['publish', join(ROOT, published), '--access', 'public', ...process.argv.slice(2)];
  execFileSync('npm', args, { cwd: ROOT, stdio: 'inherit' });
}

function isOnNpm(name, version) {
  const { status, stdout, stderr } = spawnSync('npm', ['view', `${name}@${version}`, 'version'], { encoding: 'utf8' });
  // A package that was never published is an error, a missing version no output.
  if (status !== 0 && !stderr.includes('E404')) throw new Error(stderr);
  return status === 0 && stdout.trim() === version;
}
