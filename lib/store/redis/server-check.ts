import { DelayQueueError } from '../../message/delay-queue.errors.js';

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

/** A field of `INFO`; empty if the server has none of that name. */
export function infoField(info: string, name: string): string {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
}
