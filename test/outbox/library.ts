import type { OutboxDatabase } from '../../packages/outbox/src/index.js';

/** A database through one library, as an application uses it. */
export interface Library {
  readonly database: OutboxDatabase;
  /** Runs work in a transaction, which is what the outbox is given. */
  transact<Result>(work: (transaction: object) => Promise<Result>): Promise<Result>;
  /** What an application might give by mistake, because it looks like a transaction: by what the error says of it. */
  readonly outside: Readonly<Record<string, object>>;
  /** What `@nestjs-cls/transactional` needs, if it is tested with the library. */
  readonly ambient?: AmbientLibrary;
  /** Runs statements outside of a transaction. */
  execute(statements: string): Promise<unknown>;
  close(): Promise<void>;
}

export interface AmbientLibrary {
  /** What begins transactions. */
  readonly connection: object;
  /** @param token - with which the connection is injected */
  adapterFor(token: string): object;
}

/** The libraries are installed in a folder of their own: loaded by name, so that nothing else needs them. */
export async function openLibrary(name: string, url: string): Promise<Library> {
  const file = `./libraries/${name}.js`;
  const { open } = (await import(file)) as { open: (url: string) => Promise<Library> };
  return open(url);
}
