import { Kysely, MysqlDialect, PostgresDialect, sql } from 'kysely';
import { createPool } from 'mysql2';
import pgLibrary from 'pg';
import { kysely } from '../../../packages/outbox/src/index.js';
import type { Library } from '../library.js';

export function open(url: string): Promise<Library> {
  const isMysql = url.startsWith('mysql');
  const pool = isMysql ? undefined : new pgLibrary.Pool({ connectionString: url });
  const db = new Kysely<object>({
    dialect: pool ? new PostgresDialect({ pool }) : new MysqlDialect({ pool: createPool({ uri: url }) }),
  });
  return Promise.resolve({
    database: kysely(db, { dialect: isMysql ? 'mysql' : 'postgresql', listen: pool }),
    transact: (work) => db.transaction().execute(work),
    outside: { Kysely: db },
    execute: (statements) => sql.raw(statements).execute(db),
    close: () => db.destroy(),
  });
}
