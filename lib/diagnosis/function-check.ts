import { hasCode } from '../message/failure.js';
import type { RedisCommands } from '../redis/commands/redis-commands.js';
import type { RedisServer } from '../redis/commands/redis-server.js';
import { lacksPermission, unknownCommand } from '../redis/redis-errors.js';
import { placeOf } from '../redis/check/server-info.js';
import { type LoadedLibrary, ownFunctions, ownLibrary } from '../redis/script/redis-library.js';
import type { Scripting } from '../redis/script/server-functions.js';
import { type Finding, ok, warn } from './finding.js';
import { listOf } from './function-libraries.js';

/** Reports whether calls use functions or scripts. Returns a single finding if all servers (the primaries of a cluster) agree. */
export async function checkScripting(commands: RedisCommands, scripting: Scripting | undefined): Promise<Finding[]> {
  const servers = await commands.servers.all('FCALL');
  const byReason = new Map<string | undefined, RedisServer[]>();
  for (const server of servers) {
    await commands.on(server).run(ownFunctions.checkPermissions, { keys: {}, rest: [] });
    const reason = server.functions.whyScripts(ownLibrary);
    byReason.set(reason, [...(byReason.get(reason) ?? []), server]);
  }
  return [...byReason].map(([reason, alike]) => {
    const where = byReason.size > 1 ? ` on ${alike.map((server) => placeOf([server], true).address).join(', ')}` : '';
    if (reason === undefined) return ok('functions', `calls run as functions${where}`);
    const found = `calls run as scripts${where}: ${reason}`;
    if (scripting === 'scripts') return ok('functions', found);
    return warn('functions', found, 'That costs Redis a little more: see scripting in docs/operations.md.');
  });
}

/**
 * Reports libraries in Redis that other versions of this package have loaded.
 * @param current - the libraries of this version
 * @returns undefined if there are none
 */
export async function checkLibraries(
  commands: RedisCommands,
  current: readonly LoadedLibrary[],
): Promise<Finding | undefined> {
  try {
    const libraries = await listOf(commands, current);
    const others = libraries.filter(({ isCurrent }) => isCurrent !== true);
    if (others.length === 0) return undefined;
    const found = others.map(
      ({ name, isCurrent, purpose }) => `${name} (${isCurrent === undefined ? purpose : 'another version'})`,
    );
    const advice =
      'nestjs-delay-queue-cli delete-functions deletes those of other versions. A process that needs one loads it again.';
    return { ...ok('libraries', `not of this version: ${found.join(', ')}`), advice };
  } catch (error) {
    if (!hasCode(error, 'STORE_REFUSED')) throw error;
    if (unknownCommand(error.cause) !== undefined) return undefined;
    if (lacksPermission(error.cause)) return ok('libraries', 'not listed: the Redis user lacks +function|list');
    throw error;
  }
}
