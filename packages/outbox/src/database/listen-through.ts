import { DelayQueueError } from 'nestjs-delay-queue';
import { shown } from '../offering/shown.js';
import type { OutboxDatabase } from './outbox-database.js';
import { listenOnPool, type PgPool } from './pg-listening.js';

/** A library that can listen to channels by itself: PGlite, and the function of `postgres`. */
export interface ChannelSource {
  /** Calls back at each notification. Returns what ends it. */
  listen(channel: string, callback: () => void): Promise<unknown>;
}

/** Where a relay learns of commits, if the library itself cannot listen: a pool of `pg`, PGlite, or the function of `postgres`. */
export type ListenSource = PgPool | ChannelSource;

/** Where to listen, if not where the transactions are, which may go through PgBouncer: it passes no notifications on. */
export interface ListenOptions {
  /** On PostgreSQL: a pool of `pg`, or another source that can listen. Default: the library's own connections. */
  readonly listen?: ListenSource | undefined;
}

/** Makes the function that listens through a source; undefined if there is none. */
export function listenThrough(source: ListenSource | undefined): OutboxDatabase['listen'] {
  if (source === undefined) return undefined;
  if (!('listen' in source)) return (channel, listener) => listenOnPool(source, channel, listener);
  return async (channel, { notified }) => {
    const end = (await source.listen(channel, notified)) as (() => Promise<void>) | { unlisten(): Promise<void> };
    return () => (typeof end === 'function' ? end() : end.unlisten());
  };
}

/** The options of libraries that do not tell which database they use. */
export interface DialectOptions {
  /** The database; MariaDB is `'mysql'`. */
  readonly dialect: 'postgresql' | 'mysql';
  /** On PostgreSQL: a pool of `pg`, or another source that can listen, so that commits wake the relay. Without it, it polls. */
  readonly listen?: ListenSource | undefined;
}

/** @throws DelayQueueError `INVALID_OPTION` */
export function readDialect(library: string, options: DialectOptions): DialectOptions['dialect'] {
  const { dialect } = (options as Partial<DialectOptions> | undefined) ?? {};
  if (dialect === 'postgresql' || dialect === 'mysql') return dialect;
  throw new DelayQueueError(
    'INVALID_OPTION',
    `${library}(): dialect: must be 'postgresql' or 'mysql', not ${shown(dialect)}`,
  );
}
