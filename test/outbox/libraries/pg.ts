import pgLibrary from 'pg';
import { pg } from '../../../packages/outbox/src/index.js';
import type { Library } from '../library.js';

export async function open(connectionString: string): Promise<Library> {
  const pool = new pgLibrary.Pool({ connectionString, max: 20 });
  // The server may be killed at any time.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return {
    database: pg(pool),
    async transact(work) {
      const client = await pool.connect();
      let isBroken = true;
      try {
        await client.query('BEGIN');
        const result = await work(client);
        await client.query('COMMIT');
        isBroken = false;
        return result;
      } finally {
        client.release(isBroken);
      }
    },
    outside: { Pool: pool },
    execute: (statements) => pool.query(statements),
    close: () => pool.end(),
  };
}
