import { createPool } from 'mysql2/promise';
import { mysql2 } from '../../../packages/outbox/src/index.js';
import type { Library } from '../library.js';

export function open(uri: string): Promise<Library> {
  const pool = createPool({ uri, connectionLimit: 20 });
  return Promise.resolve({
    database: mysql2(pool),
    async transact(work) {
      const connection = await pool.getConnection();
      let isBroken = true;
      try {
        await connection.beginTransaction();
        const result = await work(connection);
        await connection.commit();
        isBroken = false;
        return result;
      } finally {
        if (isBroken) connection.destroy();
        else connection.release();
      }
    },
    outside: { Pool: pool },
    execute: (statements) => pool.query(statements),
    close: () => pool.end(),
  });
}
