import { neededCommands, type NeededCommand, type Permissions } from '../../redis/permissions.js';
import { type DirectoryKeys, directoryKeys } from './directory-keys.js';
import { nativeKeys } from './native-keys.js';

/** The commands that a process with families sends to the directory. One that only offers needs those that a producer has. */
export const directoryPermissions: Permissions<DirectoryKeys> = {
  names: ['ZADD', 'ZRANGE'],
  registered: ['HDEL', 'HGET', 'HSCAN', 'HSET'],
  handled: ['ZADD', 'ZRANGE'],
};

/** What a family needs besides what each of its queues needs. Redis compares the pattern with those of the user as text. */
export function neededByFamily(prefix: string, family: string): NeededCommand[] {
  return [
    ...neededCommands(directoryPermissions, directoryKeys(prefix)),
    { name: 'PSUBSCRIBE', target: nativeKeys(prefix, family).due },
  ];
}
