import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Servers are kept here from one run to the next. */
const KEPT = fileURLToPath(new URL('../../temp/servers', import.meta.url));
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const SOURCES = '/etc/apt/sources.list.d/debian.sources';
const MIRROR = 'http://deb.debian.org/debian';

/** A server as a release of Debian has it. */
export interface DebianServer {
  /** Its version as far as the release fixes it. */
  readonly name: string;
  readonly release: string;
  readonly package: 'redis-tools' | 'valkey-tools';
}

/**
 * Unpacks a server of any release of Debian, with the libraries that it needs, into a folder of its own. Nothing is installed.
 *
 * @returns the folder with its program, for the PATH
 */
export function unpackServer(server: DebianServer): string {
  const folder = join(KEPT, `${server.release}-${server.package}`);
  if (!existsSync(folder)) unpack(server, folder);
  return folder;
}

/** Into another folder first, so that an interrupted run leaves nothing half-done behind. */
function unpack(server: DebianServer, folder: string): void {
  mkdirSync(KEPT, { recursive: true });
  const unfinished = mkdtempSync(join(KEPT, 'unfinished-'));
  try {
    for (const file of downloadPackages(server, unfinished)) execFileSync('dpkg', ['-x', file, unfinished]);
    rmSync(join(unfinished, 'apt'), { recursive: true });
    renameSync(unfinished, folder);
    writeStarter(server, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** By an apt of its own, which knows one release and no installed packages, and so fetches all that the server needs. */
function downloadPackages({ release, package: name }: DebianServer, folder: string): string[] {
  const apt = join(folder, 'apt');
  const cache = join(apt, 'cache', 'archives');
  for (const needed of [join(apt, 'lists', 'partial'), join(cache, 'partial')]) mkdirSync(needed, { recursive: true });
  writeFileSync(join(apt, 'status'), '');
  const releases = release === 'experimental' ? [release, 'sid'] : [release];
  const lines = releases.map((each) => `deb [signed-by=${KEYRING}] ${mirror()} ${each} main\n`);
  writeFileSync(join(apt, 'sources.list'), lines.join(''));
  const options = [
    `Dir::Etc::sourcelist=${join(apt, 'sources.list')}`,
    'Dir::Etc::sourceparts=/dev/null',
    `Dir::State::lists=${join(apt, 'lists')}`,
    `Dir::State::status=${join(apt, 'status')}`,
    `Dir::Cache=${join(apt, 'cache')}`,
    'APT::Sandbox::User=root',
  ].flatMap((option) => ['-o', option]);
  const aptGet = (...args: string[]) => execFileSync('apt-get', [...options, '-qq', ...args], { stdio: 'pipe' });
  aptGet('update');
  aptGet('-t', release, 'install', '-y', '--download-only', '--no-install-recommends', name);
  return readdirSync(cache)
    .filter((file) => file.endsWith('.deb'))
    .map((file) => join(cache, file));
}

/** A newer release has a newer C library, so the server is started by the loader that came with it. */
function writeStarter({ package: name }: DebianServer, folder: string): void {
  const product = name.replace('-tools', '');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const loader = files.find((file) => /\/ld-linux[^/]*\.so\.\d$/.test(file) && !file.includes('lib64'));
  const libraries = [
    ...new Set(files.filter((file) => /\.so(\.\d+)*$/.test(file)).map((file) => join(folder, file, '..'))),
  ];
  if (loader === undefined) throw new Error(`${name} came without a loader.`);
  // The checker of dump files is the server's own program, which looks at the name it is called by.
  // Loaders of older releases cannot be told another name.
  const program = join(folder, 'usr', 'bin', `${product}-server`);
  if (!existsSync(program)) copyFileSync(join(folder, 'usr', 'bin', `${product}-check-rdb`), program);
  const starter = join(folder, `${product}-server`);
  const command = [join(folder, loader), '--library-path', libraries.join(':'), program];
  writeFileSync(starter, `#!/bin/sh\nexec ${command.join(' ')} "$@"\n`);
  chmodSync(starter, 0o755);
}

function mirror(): string {
  const configured = existsSync(SOURCES) ? /^URIs: (\S+)/m.exec(readFileSync(SOURCES, 'utf8'))?.[1] : undefined;
  return configured ?? MIRROR;
}

/** The addresses of packages of other releases. */
export const canUnpackServers = (): boolean => existsSync('/usr/bin/apt-get') && existsSync(KEYRING);
