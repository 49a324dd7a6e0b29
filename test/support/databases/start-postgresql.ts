import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { isExecutable } from '../is-executable.js';
import { canInstallPackages, installPackage } from '../redis/debian-package.js';
import { onRandomPort } from '../redis/random-port.js';
import { childrenOf, DatabaseServer, newDataFolder } from './database-server.js';

/** A server of PostgreSQL, with the database `postgres`. */
export interface PostgresqlServer {
  readonly server: DatabaseServer;
  /** The URL of the superuser, who needs no password. */
  readonly url: string;
}

/**
 * Starts a server for the caller alone, who must `stop()` it.
 *
 * @param settings - of the server, such as `{ fsync: 'off' }`
 */
export async function startPostgresql(settings: Readonly<Record<string, string>> = {}): Promise<PostgresqlServer> {
  const binaries = findBinaries();
  const user = unprivilegedUser();
  const folder = newDataFolder('postgresql');
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (user) for (const path of [folder, data]) chownSync(path, user.uid, user.gid);
  const init = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'];
  execFileSync(join(binaries, 'initdb'), init, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], ...user });
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = {
    path: join(binaries, 'postgres'),
    args: (_folder: string, port: number) => {
      const address = [
        '-c',
        'listen_addresses=127.0.0.1',
        '-c',
        `unix_socket_directories=${folder}`,
        '-p',
        String(port),
      ];
      return ['-D', data, ...address, ...options];
    },
    user,
    ready: /database system is ready to accept connections/,
    inUse: /Address already in use/,
    children: childrenOf,
  };
  const server = await onRandomPort(async (port) => {
    const started = new DatabaseServer(command, folder, port);
    await started.start();
    return started;
  });
  return { server, url: `postgresql://postgres@127.0.0.1:${server.port}/postgres` };
}

/** The folder with `initdb` and `postgres`: on the PATH, else where Debian has them, else of its package. */
function findBinaries(): string {
  const found = look();
  if (found !== undefined) return found;
  if (!canInstallPackages()) throw new Error('PostgreSQL is needed: put initdb and postgres on the PATH.');
  console.log('No PostgreSQL here, installing the package postgresql with apt-get.');
  // The package would start a server of its own.
  const settings = '/etc/postgresql-common/createcluster.conf';
  if (!existsSync(settings)) {
    mkdirSync('/etc/postgresql-common', { recursive: true });
    writeFileSync(settings, 'create_main_cluster = false\n');
  }
  installPackage('postgresql');
  const installed = look();
  if (installed === undefined) throw new Error('The package postgresql has no initdb.');
  return installed;
}

function look(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [...(process.env.PATH?.split(delimiter) ?? []), ...versions.map((name) => join(debian, name, 'bin'))];
  return folders.find((folder) => ['initdb', 'postgres'].every((name) => isExecutable(join(folder, name))));
}

/** PostgreSQL refuses to run as root; its package has made a user for it. */
export function unprivilegedUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (flag: string, name: string) => Number(execFileSync('id', [flag, name], { stdio: 'pipe' }).toString());
  for (const name of ['postgres', 'nobody']) {
    try {
      return { uid: idOf('-u', name), gid: idOf('-g', name) };
    } catch {
      // There is no such user here.
    }
  }
  throw new Error('PostgreSQL refuses to run as root: a user postgres or nobody is needed.');
}
