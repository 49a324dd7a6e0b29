import createKnex from 'knex';
import { knex } from '../../../packages/outbox/src/index.js';
import type { Library } from '../library.js';

export function open(connection: string): Promise<Library> {
  const instance = createKnex({ client: connection.startsWith('mysql') ? 'mysql2' : 'pg', connection });
  return Promise.resolve({
    database: knex(instance),
    transact: (work) => instance.transaction(work),
    outside: { Knex: instance },
    execute: async (statements) => instance.raw(statements),
    close: () => instance.destroy(),
  });
}
