import { Sequelize } from 'sequelize';
import { sequelize } from '../../../packages/outbox/src/index.js';
import type { Library } from '../library.js';

export async function open(url: string): Promise<Library> {
  const instance = new Sequelize(url, { logging: false });
  const ended = await instance.transaction();
  await ended.rollback();
  return {
    database: sequelize(instance),
    transact: (work) => instance.transaction(work),
    outside: { Sequelize: instance, 'transaction of Sequelize that has ended': ended },
    execute: (statements) => instance.query(statements),
    close: () => instance.close(),
  };
}
