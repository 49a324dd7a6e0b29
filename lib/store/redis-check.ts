import type { Logger } from '@nestjs/common';
import { DelayQueueError } from '../delay-queue.errors.js';
import type { RedisConnections } from './redis/redis-connections.js';
import { lacksPermission } from './redis/redis-errors.js';
import { checkServer } from './redis/server-check.js';
import { rehearse, type Rehearsal } from './rehearsal.js';

export interface RedisCheckOptions {
  readonly connections: RedisConnections;
  /** One for each queue that must work. */
  readonly rehearsals: readonly Rehearsal[];
  readonly allowEviction: boolean;
  readonly logger: Logger;
}

/**
 * Checks Redis now, and whenever the connection is back: it may lead to another server then.
 *
 * @throws DelayQueueError `UNSUPPORTED_SERVER`, `MISSING_PERMISSION`; others if it could not be checked
 */
export async function checkRedis(options: RedisCheckOptions): Promise<void> {
  const { connections, logger } = options;
  let checking = true;
  connections.commands.onReady(() => {
    // The first connection is what the first check waits for.
    if (checking) return;
    checking = true;
    checkOnce(options)
      // If it got lost meanwhile, the next one is checked.
      .catch((error: unknown) => isVerdict(error) && logger.error(String(error)))
      .finally(() => (checking = false));
  });
  try {
    await checkOnce(options);
  } finally {
    checking = false;
  }
}

async function checkOnce({ connections, rehearsals, allowEviction, logger }: RedisCheckOptions): Promise<void> {
  const infos = await connections.commands.info().catch((error: unknown) => {
    if (!isRefusedByAcl(error)) throw error;
    logger.warn(`Redis does not tell its version and its maxmemory-policy, so they are not checked: ${error.message}`);
    return [];
  });
  for (const info of infos) checkServer(info, { allowEviction });

  for (const { queue, store } of rehearsals) {
    try {
      await rehearse(store);
    } catch (error) {
      if (!isRefusedByAcl(error)) throw error;
      throw new DelayQueueError('MISSING_PERMISSION', `Queue '${queue}' cannot be served. ${error.message}`, {
        cause: error,
      });
    }
  }
}

/** Whether a check has found what will not pass by itself, unlike an outage, a failover or a lack of memory. */
export function isVerdict(error: unknown): error is DelayQueueError {
  return (
    error instanceof DelayQueueError && (error.code === 'UNSUPPORTED_SERVER' || error.code === 'MISSING_PERMISSION')
  );
}

function isRefusedByAcl(error: unknown): error is DelayQueueError {
  return error instanceof DelayQueueError && lacksPermission(error.cause);
}
