import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';

/**
 * The package of the tools, not the one of the server: it has the same binary in it (see {@link findBinary}), but it
 * neither starts nor enables a service on port 6379.
 */
const PACKAGE = 'redis-tools';

/** Whether packages can be installed here: on Debian and its kin, as root. */
export function canInstallPackages(): boolean {
  try {
    accessSync('/usr/bin/apt-get', constants.X_OK);
    return process.getuid?.() === 0;
  } catch {
    return false;
  }
}

/** Installs Redis from the system's package registry, and says so. */
export function installRedisPackage(): void {
  console.log(`No Redis here, installing the package ${PACKAGE} with apt-get.`);
  aptGet('update', '-qq');
  aptGet('install', '-qq', '-y', '--no-install-recommends', PACKAGE);
}

function aptGet(...args: string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  execFileSync('/usr/bin/apt-get', args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
}
