import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const SERVERS = ['redis-server', 'valkey-server'];

/** The first Redis or Valkey server on a PATH. */
export function findServer(path = ''): string | undefined {
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  return folders.flatMap((folder) => SERVERS.map((server) => join(folder, server))).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
