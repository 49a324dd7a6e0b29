import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { nodeSqlite } from '../../../packages/outbox/src/index.js';
import type { Library } from '../library.js';

export function open(): Promise<Library> {
  const folder = mkdtempSync(join(tmpdir(), 'test-sqlite-'));
  const file = join(folder, 'app.db');
  const own = new DatabaseSync(file);
  own.exec('PRAGMA journal_mode = WAL');
  const idle = new DatabaseSync(file);
  return Promise.resolve({
    database: nodeSqlite(own),
    async transact(work) {
      const db = new DatabaseSync(file);
      try {
        db.exec('BEGIN IMMEDIATE');
        const result = await work(db);
        db.exec('COMMIT');
        return result;
      } finally {
        db.close();
      }
    },
    outside: { 'DatabaseSync of the relay': own, 'DatabaseSync outside of a transaction': idle },
    execute: (statements) => Promise.resolve(own.exec(statements)),
    close: () => {
      for (const db of [own, idle]) db.close();
      return Promise.resolve(rmSync(folder, { recursive: true }));
    },
  });
}
