import { DelayQueueError } from '../message/delay-queue-errors.js';
import { hasCode } from '../message/failure.js';
import { lacksPermission, unknownCommand } from './redis-errors.js';

/** The oldest server whose scripts can declare that they may run without free memory. */
const OLDEST_VERSION = 7;

/**
 * Checks the `INFO` of a server.
 *
 * @param info - the sections `server` and `memory`
 * @throws DelayQueueError `UNSUPPORTED_SERVER`
 * @see https://redis.io/docs/latest/commands/info/
 */
export function checkServer(info: string, { allowEviction }: { allowEviction: boolean }): void {
  // Valkey reports the version of Redis that it is compatible with.
  const version = infoField(info, 'redis_version');
  if (Number.parseInt(version) < OLDEST_VERSION) {
    throw new DelayQueueError(
      'UNSUPPORTED_SERVER',
      `Redis ${version} is too old: use Redis ${OLDEST_VERSION}.0 or newer, or Valkey`,
    );
  }

  // The volatile-* policies evict only keys with an expiry; no key that holds messages has one.
  const policy = infoField(info, 'maxmemory_policy');
  if (policy.startsWith('allkeys-') && !allowEviction) {
    throw new DelayQueueError(
      'UNSUPPORTED_SERVER',
      `Redis evicts keys, and messages with them, when its memory is full (maxmemory-policy ${policy}): ` +
        'set maxmemory-policy noeviction, or accept the loss with allowEviction: true',
    );
  }
}

/**
 * The verdict on a server that has refused what every queue needs; any other error as it is.
 *
 * @returns `UNSUPPORTED_SERVER` if the server lacks something, `MISSING_PERMISSION` if its user does
 */
export function verdictOn(error: unknown): unknown {
  if (!hasCode(error, 'STORE_REFUSED')) return error;
  const { cause, message } = error;
  if (lacksPermission(cause))
    return new DelayQueueError('MISSING_PERMISSION', `No queue can be served: ${message}`, { cause: error });
  const lack = lackOf(cause as Error);
  return lack === undefined ? error : new DelayQueueError('UNSUPPORTED_SERVER', lack, { cause: error });
}

function lackOf(cause: Error): string | undefined {
  const command = unknownCommand(cause);
  if (command !== undefined) {
    return (
      `Redis does not know the command ${command}, which the module needs: if its configuration has rename-command ${command}, ` +
      'remove that, and keep the command from other users by their ACLs'
    );
  }
  if (/Error compiling script|^NOACLCHECK/.test(cause.message)) {
    return (
      `The scripts of the server lack what those of Redis ${OLDEST_VERSION}.0 have (${cause.message}): ` +
      `use Redis ${OLDEST_VERSION}.0 or newer, or Valkey`
    );
  }
  return undefined;
}

/** The name and version of a server, such as `Redis 7.0.15`. */
export function serverName(info: string): string {
  const valkey = infoField(info, 'valkey_version');
  return valkey ? `Valkey ${valkey}` : `Redis ${infoField(info, 'redis_version')}`;
}

/** A field of `INFO`; empty if the server has none of that name. */
export function infoField(info: string, name: string): string {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
}
