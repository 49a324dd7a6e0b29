import { TransactionalAdapterDrizzleOrm } from '@nestjs-cls/transactional-adapter-drizzle-orm';
import { sql } from 'drizzle-orm';
import { drizzle as drizzlePostgres } from 'drizzle-orm/node-postgres';
import { drizzle as drizzleMysql } from 'drizzle-orm/mysql2';
import { createPool } from 'mysql2/promise';
import pgLibrary from 'pg';
import { drizzle } from '../../../packages/outbox/src/index.js';
import type { Library } from '../library.js';

export function open(url: string): Promise<Library> {
  return Promise.resolve(url.startsWith('mysql') ? openMysql(url) : openPostgres(url));
}

function openPostgres(connectionString: string): Library {
  const pool = new pgLibrary.Pool({ connectionString });
  const db = drizzlePostgres({ client: pool });
  return {
    database: drizzle(db, { dialect: 'postgresql', sql }),
    transact: (work) => db.transaction(work),
    outside: { 'database of Drizzle': db },
    ambient: {
      connection: db,
      adapterFor: (token) => new TransactionalAdapterDrizzleOrm({ drizzleInstanceToken: token }),
    },
    execute: (statements) => db.execute(sql.raw(statements)),
    close: () => pool.end(),
  };
}

function openMysql(uri: string): Library {
  const pool = createPool({ uri });
  const db = drizzleMysql({ client: pool });
  return {
    database: drizzle(db, { dialect: 'mysql', sql }),
    transact: (work) => db.transaction(work),
    outside: { 'database of Drizzle': db },
    execute: (statements) => db.execute(sql.raw(statements)),
    close: () => pool.end(),
  };
}
