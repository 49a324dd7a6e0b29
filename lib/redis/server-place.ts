import type { Redis } from 'ioredis';
import type { ConnectedServer } from '../events/notes.js';
import type { RedisServer } from './redis-server.js';

/** Where servers are, for people; without any login. */
export type ServerPlace = Pick<ConnectedServer, 'address' | 'primaries' | 'master' | 'database'>;

/** @param servers - that are connected: a single one, or the primaries of a cluster */
export function placeOf([server, ...others]: readonly RedisServer[], isCluster: boolean): ServerPlace {
  const { options, stream } = server!.connection.client as Redis;
  const { host = 'localhost', port = 6379, path, db = 0, name, sentinels } = options;
  // Sentinels tell the address of the master; the options have only theirs.
  const address = sentinels ? addressOf(stream.remoteAddress ?? '', stream.remotePort ?? 0) : addressOf(host, port);
  return {
    address: path ?? address,
    primaries: isCluster ? others.length + 1 : undefined,
    master: sentinels ? name : undefined,
    database: isCluster ? undefined : db,
  };
}

const addressOf = (host: string, port: number) => `${host.includes(':') ? `[${host}]` : host}:${port}`;
