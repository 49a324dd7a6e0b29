import { TransactionalAdapterTypeOrm } from '@nestjs-cls/transactional-adapter-typeorm';
import { DataSource } from 'typeorm';
import { typeOrm } from '../../../packages/outbox/src/index.js';
import type { Library } from '../library.js';

export async function open(url: string): Promise<Library> {
  const dataSource = await new DataSource({ type: url.startsWith('mysql') ? 'mysql' : 'postgres', url }).initialize();
  return {
    database: typeOrm(dataSource),
    transact: (work) => dataSource.transaction(work),
    outside: { EntityManager: dataSource.manager },
    ambient: {
      connection: dataSource,
      adapterFor: (token) => new TransactionalAdapterTypeOrm({ dataSourceToken: token }),
    },
    execute: (statements) => dataSource.query(statements),
    close: () => dataSource.destroy(),
  };
}
