import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Dialect } from '../../packages/outbox/src/index.js';

/** The root of the project: programs run from a folder two levels deeper. */
const MIGRATIONS = join(process.cwd(), 'packages', 'outbox', 'migrations');

/** The SQL that makes a table. */
export async function migrationOf(dialect: Dialect, table: string): Promise<string> {
  return (await readFile(join(MIGRATIONS, `${dialect}.sql`), 'utf8')).replaceAll('delay_queue_outbox', table);
}
