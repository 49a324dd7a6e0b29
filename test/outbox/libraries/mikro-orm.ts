import { EntitySchema, MikroORM } from '@mikro-orm/core';
import { MariaDbDriver } from '@mikro-orm/mariadb';
import { PostgreSqlDriver } from '@mikro-orm/postgresql';
import pgLibrary from 'pg';
import { mikroOrm } from '../../../packages/outbox/src/index.js';
import type { Library } from '../library.js';

const Order = new EntitySchema<{ id: number }>({
  name: 'Order',
  properties: { id: { type: 'number', primary: true } },
});

export async function open(clientUrl: string): Promise<Library> {
  const common = { clientUrl, entities: [Order], discovery: { warnWhenNoEntities: false } };
  if (clientUrl.startsWith('mysql')) {
    const orm = await MikroORM.init({ ...common, driver: MariaDbDriver });
    return libraryOf(orm as unknown as MikroORM, 'mysql');
  }
  const pool = new pgLibrary.Pool({ connectionString: clientUrl });
  const orm = await MikroORM.init({ ...common, driver: PostgreSqlDriver });
  const library = libraryOf(orm as unknown as MikroORM, 'postgresql', pool);
  return { ...library, close: async () => Promise.all([library.close(), pool.end()]).then(() => undefined) };
}

function libraryOf(orm: MikroORM, dialect: 'postgresql' | 'mysql', listen?: pgLibrary.Pool): Library {
  return {
    database: mikroOrm(orm.em, { dialect, listen }),
    transact: (work) => orm.em.fork().transactional((em) => work(em)),
    outside: { EntityManager: orm.em.fork() },
    execute: (statements) =>
      (orm.em.getConnection() as unknown as { execute(sql: string): Promise<unknown> }).execute(statements),
    close: () => orm.close(),
  };
}
