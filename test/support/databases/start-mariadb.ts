import { execFileSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { isExecutable } from '../is-executable.js';
import { canInstallPackages, installPackage } from '../redis/debian-package.js';
import { onRandomPort } from '../redis/random-port.js';
import { DatabaseServer, newDataFolder } from './database-server.js';

/** A server of MariaDB, with the database `test`. */
export interface MariadbServer {
  readonly server: DatabaseServer;
  /** Of root, who needs no password. */
  readonly url: string;
}

/** The packages of the binaries, not the one that also starts a service on port 3306. */
const PACKAGES = ['mariadb-server-core', 'mariadb-client-core'];

/** Starts a server for the caller alone, who must `stop()` it. */
export async function startMariadb(): Promise<MariadbServer> {
  const { server: path, install } = findBinaries();
  const folder = newDataFolder('mariadb');
  const user = process.getuid?.() === 0 ? ['--user=root'] : [];
  const common = ['--no-defaults', `--datadir=${join(folder, 'data')}`, ...user];
  const init = [...common, '--auth-root-authentication-method=normal'];
  execFileSync(install, init, { stdio: ['ignore', 'ignore', 'inherit'] });
  const command = {
    path,
    args: (_folder: string, port: number) => {
      const address = ['--bind-address=127.0.0.1', `--port=${port}`, `--socket=${join(folder, 'socket')}`];
      return [...common, ...address, '--skip-name-resolve'];
    },
    ready: /ready for connections/,
    inUse: /Address already in use/,
    children: () => [],
  };
  const server = await onRandomPort(async (port) => {
    const started = new DatabaseServer(command, folder, port);
    await started.start();
    return started;
  });
  return { server, url: `mysql://root@127.0.0.1:${server.port}/test` };
}

function findBinaries(): { readonly server: string; readonly install: string } {
  let found = look();
  if (!found && canInstallPackages()) {
    console.log(`No MariaDB here, installing the packages ${PACKAGES.join(' and ')} with apt-get.`);
    for (const name of PACKAGES) installPackage(name);
    found = look();
  }
  if (!found) throw new Error('MariaDB is needed: put mariadbd and mariadb-install-db on the PATH.');
  return found;
}

function look(): { readonly server: string; readonly install: string } | undefined {
  const folders = [...(process.env.PATH?.split(delimiter) ?? []), '/usr/sbin', '/usr/bin'];
  const find = (name: string) => folders.map((folder) => join(folder, name)).find(isExecutable);
  const [server, install] = [find('mariadbd'), find('mariadb-install-db')];
  return server !== undefined && install !== undefined && find('my_print_defaults') !== undefined
    ? { server, install }
    : undefined;
}
