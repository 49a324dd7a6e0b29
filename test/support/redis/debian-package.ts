import { execFileSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The package of the tools, not the one of the server: it has the same binary in it (see {@link findBinary}), but it
 * neither starts nor enables a service on port 6379.
 */
const PACKAGE = 'redis-tools';

/** True if packages can be installed here: on Debian and its kin, as root. */
export function canInstallPackages(): boolean {
  try {
    accessSync('/usr/bin/apt-get', constants.X_OK);
    return process.getuid?.() === 0;
  } catch {
    return false;
  }
}

/** Installs Redis, and says so. */
export function installRedisPackage(): void {
  console.log(`No Redis here, installing the package ${PACKAGE} with apt-get.`);
  installPackage(PACKAGE);
}

/** Installs a package from the system's package registry. */
export function installPackage(name: string): void {
  aptGet('update', '-qq');
  aptGet('install', '-qq', '-y', '--no-install-recommends', name);
}

/**
 * Unpacks a package, without what it depends on, and installs nothing.
 *
 * @throws if it cannot be had here
 */
export function unpackPackage(name: string, folder: string): void {
  const download = mkdtempSync(join(tmpdir(), 'package-'));
  const fetchIt = () => execFileSync('apt-get', ['download', '-qq', name], { cwd: download, stdio: 'pipe' });
  try {
    try {
      fetchIt();
    } catch (error) {
      // It may be unknown only because nobody has asked the registry yet.
      if (!canInstallPackages()) throw error;
      aptGet('update', '-qq');
      fetchIt();
    }
    for (const file of readdirSync(download)) execFileSync('dpkg-deb', ['--extract', join(download, file), folder]);
  } finally {
    rmSync(download, { recursive: true });
  }
}

function aptGet(...args: string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  execFileSync('/usr/bin/apt-get', args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
}
