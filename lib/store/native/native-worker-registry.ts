import type { Permissions } from '../../redis/check/permissions.js';
import type { RedisConnections } from '../../redis/redis-connections.js';
import { REPORT_VALID, type ReportPage, type StoredReport, type WorkerRegistry } from '../worker-registry.js';
import { nativeLibrary } from './native-library.js';

/** The registry's keys in Redis, next to those of the directory of queues. */
export interface RegistryKeys {
  /** ZSET id → 0, of every process that has reported recently. Sorted for listing by id. */
  readonly workers: string;
  /** ZSET id → time of the latest report, ms; the same ids. */
  readonly seen: string;
  /** HASH id → report, JSON; the same ids. */
  readonly reports: string;
}

export function registryKeys(prefix: string): RegistryKeys {
  const key = (part: string) => `${prefix}:{@queues}:${part}`;
  return { workers: key('workers'), seen: key('seen'), reports: key('reports') };
}

/** The commands on each key. A process that lacks permission for them handles its queues, but is not listed. */
export const registryPermissions: Permissions<RegistryKeys> = {
  workers: ['ZADD', 'ZRANGE', 'ZREM'],
  seen: ['ZADD', 'ZRANGE', 'ZREM', 'ZSCORE'],
  reports: ['HDEL', 'HMGET', 'HSET'],
};

export const reportWorkerFunction = nativeLibrary.define('report-worker', registryKeys(''));
export const listWorkersFunction = nativeLibrary.define('list-workers', registryKeys(''));

/** An id as this package makes them. Ids that something else has written are ignored. */
const ID = /^[\w-]{1,64}$/;

/** The processes that handle queues, in Redis. */
export class NativeWorkerRegistry implements WorkerRegistry {
  readonly #keys: RegistryKeys;

  constructor(
    private readonly connections: Pick<RedisConnections, 'commands'>,
    prefix: string,
  ) {
    this.#keys = registryKeys(prefix);
  }

  async report(id: string, report: string): Promise<void> {
    const args = { id, report, valid: REPORT_VALID };
    await this.connections.commands.run(reportWorkerFunction, { keys: this.#keys, args });
  }

  async remove(id: string): Promise<void> {
    const { commands } = this.connections;
    const { workers, seen, reports } = this.#keys;
    await Promise.all([
      commands.send('ZREM', workers, id),
      commands.send('ZREM', seen, id),
      commands.send('HDEL', reports, id),
    ]);
  }

  async list({ after, limit }: { after: string; limit: number }): Promise<ReportPage> {
    // As bytes, because a foreign id is not necessarily valid UTF-8.
    let behind: Buffer = Buffer.from(after);
    for (;;) {
      const args = { after: behind, limit, valid: REPORT_VALID };
      const reply = await this.connections.commands.run(listWorkersFunction, { keys: this.#keys, args });
      behind = reply.bytes();
      const found = reply.rest((each): StoredReport => ({ id: each.text(), at: each.number(), report: each.text() }));
      const reports = found.filter(({ id }) => ID.test(id));
      const isMore = behind.length > 0;
      if (reports.length > 0 || !isMore) return { reports, isMore };
    }
  }
}
