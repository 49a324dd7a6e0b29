import type { ChannelListener } from './outbox-database.js';

/** The part of a client of `pg` that is used, from a pool or not. */
export interface PgClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** A client of a pool. */
export interface PgPoolClient extends PgClient {
  /** Returns the client to the pool; with `true`, closes it. */
  release(destroy?: boolean): void;
  on(event: 'notification' | 'error' | 'end', listener: (argument: never) => void): unknown;
  removeListener(event: 'notification' | 'error' | 'end', listener: (argument: never) => void): unknown;
}

/** The part of a pool of `pg` that is used. */
export interface PgPool {
  connect(callback: (error: Error | undefined, client: PgPoolClient | undefined) => void): void;
}

/** Listens on a client of a pool, which is closed afterwards, because it has state that nobody else expects. */
export async function listenOnPool(
  pool: PgPool,
  channel: string,
  listener: ChannelListener,
): Promise<() => Promise<void>> {
  return listenOnClient(await connect(pool), channel, listener);
}

/** Listens on a client. @param release - returns it to a library that has its own way; default: closes it */
export async function listenOnClient(
  client: PgPoolClient,
  channel: string,
  { notified, lost }: ChannelListener,
  release?: () => Promise<void>,
): Promise<() => Promise<void>> {
  const onEnd = () => lost(new Error('The connection has ended'));
  client.on('error', lost);
  client.on('end', onEnd);
  client.on('notification', notified);
  const end = async () => {
    client.removeListener('end', onEnd);
    client.removeListener('notification', notified);
    if (!release) {
      client.release(true);
      return;
    }
    // Whoever gets the client next expects no notifications. If it is lost, there is nothing to do.
    await client.query(`UNLISTEN "${channel}"`).catch(() => undefined);
    client.removeListener('error', lost);
    await release();
  };
  try {
    await client.query(`LISTEN "${channel}"`);
  } catch (error) {
    await end();
    throw error;
  }
  return end;
}

/** Adds the listener at once: without one, an error of the connection would end the process, and a promise would leave a gap. */
export function connect(pool: PgPool): Promise<PgPoolClient> {
  return new Promise((resolve, reject) => {
    pool.connect((error, client) => {
      if (!client) {
        reject(error ?? new Error('The pool has no client'));
        return;
      }
      client.on('error', ignore);
      resolve(client);
    });
  });
}

export function ignore(): void {}
