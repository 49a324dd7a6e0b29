import { chownSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { isExecutable } from '../is-executable.js';
import { canInstallPackages, installPackage } from '../redis/debian-package.js';
import { onRandomPort } from '../redis/random-port.js';
import { DatabaseServer, newDataFolder } from './database-server.js';
import { unprivilegedUser } from './start-postgresql.js';

/** A PgBouncer that gives each transaction a connection of its own. */
export interface Pgbouncer {
  readonly server: DatabaseServer;
  readonly url: string;
}

/**
 * Starts a PgBouncer in transaction mode for the caller alone, who must `stop()` it.
 *
 * @param to - the port of PostgreSQL on this machine
 */
export async function startPgbouncer(to: number): Promise<Pgbouncer> {
  const path = findBinary();
  const user = unprivilegedUser();
  const folder = newDataFolder('pgbouncer');
  const config = join(folder, 'pgbouncer.ini');
  const server = await onRandomPort(async (port) => {
    const settings = [
      // With auth_type any, the user is that of the database.
      `[databases]\npostgres = host=127.0.0.1 port=${to} user=postgres`,
      `[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =`,
      'auth_type = any\npool_mode = transaction',
    ];
    writeFileSync(config, settings.join('\n'));
    if (user) for (const file of [folder, config]) chownSync(file, user.uid, user.gid);
    const started = new DatabaseServer(
      { path, args: () => [config], user, ready: /process up/, inUse: /Address already in use/, children: () => [] },
      folder,
      port,
    );
    await started.start();
    return started;
  });
  return { server, url: `postgresql://postgres@127.0.0.1:${server.port}/postgres` };
}

function findBinary(): string {
  let found = look();
  if (found === undefined && canInstallPackages()) {
    console.log('No PgBouncer here, installing the package pgbouncer with apt-get.');
    installPackage('pgbouncer');
    found = look();
  }
  if (found === undefined) throw new Error('PgBouncer is needed: put pgbouncer on the PATH.');
  return found;
}

function look(): string | undefined {
  const folders = [...(process.env.PATH?.split(delimiter) ?? []), '/usr/sbin', '/usr/bin'];
  return folders.map((folder) => join(folder, 'pgbouncer')).find(isExecutable);
}
