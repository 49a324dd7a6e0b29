import { expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTableSql } from '../../packages/outbox/src/index.js';
import { startPostgresql } from '../support/databases/start-postgresql.js';
import { openLibrary } from './library.js';

const SCHEMA = join(import.meta.dirname, 'libraries', 'prisma', 'schema.prisma');
const ENGINE = './libraries/prisma-schema-engine.js';

test("Prisma's migration from the README's model creates the table of the package's SQL", async () => {
  const { migrate } = (await import(ENGINE)) as { migrate: (url: string, schema: string) => Promise<string> };
  const { server, url } = await startPostgresql({ fsync: 'off' });
  const library = await openLibrary('pg', url);
  try {
    expect(await migrate(url, await readFile(SCHEMA, 'utf8'))).toContain('CREATE TABLE "delay_queue_outbox"');
    await library.execute(`CREATE SCHEMA other; ${createTableSql('postgresql', 'other.delay_queue_outbox')}`);
    const described = await library.database.transaction(async (sql) => ({
      columns: await sql(
        // Prisma numbers rows by a sequence, the SQL by an identity column, which has one.
        `SELECT table_schema AS "schema", column_name, data_type, character_maximum_length, is_nullable, ` +
          `CASE WHEN is_identity = 'YES' OR column_default LIKE 'nextval(%' THEN 'numbered' ELSE column_default END ` +
          `AS "default" FROM information_schema.columns ` +
          `WHERE table_name = 'delay_queue_outbox' ORDER BY ordinal_position`,
      ),
      indexes: await sql(
        `SELECT schemaname AS "schema", indexname, replace(indexdef, schemaname || '.', '') AS definition FROM pg_indexes ` +
          `WHERE tablename = 'delay_queue_outbox' ORDER BY indexname`,
      ),
    }));
    for (const rows of Object.values(described)) {
      const of = (schema: string) => rows.filter((row) => row.schema === schema).map((row) => ({ ...row, schema: '' }));
      expect(of('public').length).toBeGreaterThan(1);
      expect(of('public')).toEqual(of('other'));
    }
  } finally {
    await library.close();
    await server.stop();
  }
});
