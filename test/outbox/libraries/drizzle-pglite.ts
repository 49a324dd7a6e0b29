import { PGlite } from '@electric-sql/pglite';
import { sql } from 'drizzle-orm';
import { drizzle as drizzlePglite } from 'drizzle-orm/pglite';
import { drizzle } from '../../../packages/outbox/src/index.js';
import type { Library } from '../library.js';

export async function open(): Promise<Library> {
  const client = await PGlite.create();
  const db = drizzlePglite({ client });
  return {
    database: drizzle(db, { dialect: 'postgresql', sql }),
    transact: (work) => db.transaction(work),
    outside: { 'database of Drizzle': db },
    execute: (statements) => client.exec(statements),
    close: () => client.close(),
  };
}
