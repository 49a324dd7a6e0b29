import { PGlite } from '@electric-sql/pglite';
import { pglite } from '../../../packages/outbox/src/index.js';
import type { Library } from '../library.js';

export async function open(): Promise<Library> {
  const db = await PGlite.create();
  return {
    database: pglite(db),
    transact: (work) => db.transaction(work),
    outside: { PGlite: db },
    execute: (statements) => db.exec(statements),
    close: () => db.close(),
  };
}
