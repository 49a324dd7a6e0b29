import { checkServer, infoField, serverName } from '../redis/check/server-info.js';
import { type Finding, fail, ok, warn } from './finding.js';

/** Judges a server's version, eviction policy and persistence by its `INFO`. */
export function checkInfo(info: string): Finding[] {
  return [versionOf(info), evictionOf(info), persistenceOf(info)];
}

/** Reports which other databases of the server are in use, because they share its channels. @returns undefined if there are none */
export function checkDatabases(info: string, own: string): Finding | undefined {
  const others = [...info.matchAll(/^db(\d+):keys=/gm)].map(([, number]) => number).filter((number) => number !== own);
  if (others.length === 0) return undefined;
  const found = `${own}; ${others.join(', ')} of this server ${others.length === 1 ? 'has' : 'have'} keys, too`;
  return ok('database', `${found}: queues are separate, even with the same prefix and name`);
}

function versionOf(info: string): Finding {
  const problem = refusalOf(() => checkServer(info, { allowEviction: true }));
  if (problem !== undefined) return fail('version', problem);
  if (infoField(info, 'redis_version') === '')
    return warn('version', 'INFO names no version', 'It must be Redis 7.0 or newer, or Valkey.');
  return ok('version', serverName(info));
}

function evictionOf(info: string): Finding {
  const policy = infoField(info, 'maxmemory_policy');
  if (policy === '')
    return warn('eviction', 'INFO names no maxmemory-policy', 'It must not evict keys without an expiry.');
  const found = `maxmemory-policy ${policy}`;
  if (!policy.startsWith('allkeys-')) return ok('eviction', found);
  return fail(
    'eviction',
    `${found}: messages are deleted when the memory is full`,
    'Set maxmemory-policy to noeviction.',
  );
}

function persistenceOf(info: string): Finding {
  const see = "See Redis' log, and check that its disk is writable and not full.";
  if (infoField(info, 'aof_last_write_status') === 'err') {
    return fail('persistence', 'the append-only file cannot be written', see);
  }
  if (infoField(info, 'rdb_last_bgsave_status') === 'err') return fail('persistence', 'the last snapshot failed', see);
  if (infoField(info, 'aof_enabled') === '1') return ok('persistence', 'append-only file');
  if (infoField(info, 'rdb_last_save_time') === '') {
    const advice = 'See the settings of the service. Without persistence, all later offers are lost if Redis dies.';
    return warn('persistence', 'INFO does not say whether data is saved to disk', advice);
  }
  const saved = new Date(Number(infoField(info, 'rdb_last_save_time')) * 1000).toISOString();
  return warn(
    'persistence',
    `no append-only file; the last snapshot, or the start of Redis, was at ${saved}`,
    'If Redis dies, all later offers are lost. Set appendonly to yes, unless you can accept that.',
  );
}

function refusalOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
