import type { Redis } from 'ioredis';
import type { ConnectedServer } from '../../events/events.js';
import { DelayQueueError } from '../../message/delay-queue-errors.js';
import { hasCode } from '../../message/failure.js';
import type { Copies, RedisServer } from '../commands/redis-server.js';
import { databaseOf } from '../connection/redis-client.js';
import { lacksPermission, unknownCommand } from '../redis-errors.js';

/** Where the servers are, for display, without credentials. */
export type ServerPlace = Pick<ConnectedServer, 'address' | 'primaries' | 'master' | 'database'>;

/** The oldest version whose scripts can declare that they may run when memory is full. */
const OLDEST_VERSION = 7;

/** Returns a field of `INFO`; empty if the server does not report it. */
export function infoField(info: string, name: string): string {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
}

export function serverName(info: string): string {
  const valkey = infoField(info, 'valkey_version');
  return valkey ? `Valkey ${valkey}` : `Redis ${infoField(info, 'redis_version')}`;
}

/** @param servers - the connected servers: a single one, or the primaries of a cluster */
export function placeOf([server, ...others]: readonly RedisServer[], isCluster: boolean): ServerPlace {
  const client = server!.client as Redis;
  const { options, stream } = client;
  const { host = 'localhost', port = 6379, path, name, sentinels } = options;
  // With Sentinel, the options contain only the sentinels' addresses. The socket has the primary's address.
  const address = sentinels ? addressOf(stream.remoteAddress ?? '', stream.remotePort ?? 0) : addressOf(host, port);
  return {
    address: path ?? address,
    primaries: isCluster ? others.length + 1 : undefined,
    master: sentinels ? name : undefined,
    database: isCluster ? undefined : databaseOf(client),
  };
}

const addressOf = (host: string, port: number) => `${host.includes(':') ? `[${host}]` : host}:${port}`;

/**
 * Checks the sections `server`, `memory` and `persistence` of a server's `INFO`.
 * @throws DelayQueueError `UNSUPPORTED_SERVER`
 * @see https://redis.io/docs/latest/commands/info/
 */
export function checkServer(
  info: string,
  { allowEviction, copies }: { readonly allowEviction: boolean; readonly copies?: Copies | undefined },
): void {
  // Valkey reports the Redis version with which it is compatible.
  const version = infoField(info, 'redis_version');
  if (Number.parseInt(version) < OLDEST_VERSION)
    throw unsupported(`Redis ${version} is too old: use Redis ${OLDEST_VERSION}.0 or newer, or Valkey`);

  // The volatile-* policies evict only keys with an expiry, which no key that holds messages has.
  const policy = infoField(info, 'maxmemory_policy');
  if (policy.startsWith('allkeys-') && !allowEviction)
    throw unsupported(
      `Redis evicts keys, and messages with them, when its memory is full (maxmemory-policy ${policy}): ` +
        'set maxmemory-policy noeviction, or accept the loss with allowEviction: true',
    );

  if (copies?.fsync) checkDurability(info, version);
}

function checkDurability(info: string, version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (version !== '' && (major < 7 || (major === 7 && minor < 2)))
    throw unsupported(
      `Redis ${version} cannot tell what is on disk: acknowledge.fsync needs Redis 7.2 or newer, or Valkey`,
    );
  if (infoField(info, 'aof_enabled') === '0')
    throw unsupported('Redis has no append-only file, which acknowledge.fsync needs: set appendonly yes');
}

/** Returns `UNSUPPORTED_SERVER` if the server lacks what queues need, `MISSING_PERMISSION` if the user lacks it; otherwise, the error. */
export function verdictOn(error: unknown): unknown {
  if (!hasCode(error, 'STORE_REFUSED')) return error;
  const { cause, message } = error;
  if (lacksPermission(cause))
    return new DelayQueueError('MISSING_PERMISSION', `No queue can be served: ${message}`, { cause: error });
  const command = unknownCommand(cause);
  if (command !== undefined) {
    return unsupported(
      `Redis, or a proxy in front of it, does not know the command ${command}, which the module needs: if Redis' ` +
        `configuration has rename-command ${command}, remove that, and keep the command from other users by their ACLs`,
      error,
    );
  }
  const { message: reply } = cause as Error;
  // Some servers compatible with Redis do not know the first line of a script, `#!lua`.
  if (!/Error compiling script|unexpected symbol near '#'|^NOACLCHECK/.test(reply)) return error;
  return unsupported(
    `The scripts of the server lack what those of Redis ${OLDEST_VERSION}.0 have (${reply}): ` +
      `use Redis ${OLDEST_VERSION}.0 or newer, or Valkey`,
    error,
  );
}

function unsupported(problem: string, cause?: unknown): DelayQueueError {
  return new DelayQueueError('UNSUPPORTED_SERVER', problem, cause === undefined ? {} : { cause });
}
