import { DelayQueueError } from 'nestjs-delay-queue';
import { shown } from '../offering/shown.js';
import type { OutboxDatabase } from './outbox-database.js';
import { listenOnPool, type PgPool } from './pg-listening.js';

/** What can listen to channels by itself: PGlite, and the function of `postgres`. */
export interface ChannelSource {
  /** Calls back at each notification; returns what ends it. */
  listen(channel: string, callback: () => void): Promise<unknown>;
}

/** Where a relay hears of commits, if the library itself has no way to: a pool of `pg`, PGlite, or the function of `postgres`. */
export type ListenSource = PgPool | ChannelSource;

/** Where to listen, if not where the transactions are: they may go through PgBouncer, which passes no notifications on. */
export interface ListenOptions {
  /** On PostgreSQL: a pool of `pg`, or what else can listen. Default: the library's own connections. */
  readonly listen?: ListenSource | undefined;
}

/** How to listen through a source; undefined: there is none. */
export function listenThrough(source: ListenSource | undefined): OutboxDatabase['listen'] {
  if (source === undefined) return undefined;
  if (!('listen' in source)) return (channel, listener) => listenOnPool(source, channel, listener);
  return async (channel, { notified }) => {
    const end = (await source.listen(channel, notified)) as (() => Promise<void>) | { unlisten(): Promise<void> };
    return () => (typeof end === 'function' ? end() : end.unlisten());
  };
}

/** The options of libraries that do not say which database they speak to. */
export interface DialectOptions {
  /** Which database it is; MariaDB is `'mysql'`. */
  readonly dialect: 'postgresql' | 'mysql';
  /** On PostgreSQL: a pool of `pg`, or what else can listen, so that commits wake the relay. Without it, it polls. */
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
