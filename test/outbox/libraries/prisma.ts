import { TransactionalAdapterPrisma } from '@nestjs-cls/transactional-adapter-prisma';
import { PrismaPg } from '@prisma/adapter-pg';
import prismaLibrary from '@prisma/client';
import pgLibrary from 'pg';
import { prisma } from '../../../packages/outbox/src/index.js';
import type { Library } from '../library.js';

export function open(connectionString: string): Promise<Library> {
  const pool = new pgLibrary.Pool({ connectionString });
  const client = new prismaLibrary.PrismaClient({ adapter: new PrismaPg({ connectionString }) });
  return Promise.resolve({
    database: prisma(client, { dialect: 'postgresql', listen: pool }),
    transact: (work) => client.$transaction(work),
    outside: { PrismaClient: client },
    ambient: {
      connection: client,
      adapterFor: (token) => new TransactionalAdapterPrisma({ prismaInjectionToken: token, sqlFlavor: 'postgresql' }),
    },
    execute: (statements) => client.$executeRawUnsafe(statements),
    close: async () => Promise.all([client.$disconnect(), pool.end()]).then(() => undefined),
  });
}
