import { describe } from '@jest/globals';
import { startMariadb } from '../support/databases/start-mariadb.js';
import { startPostgresql } from '../support/databases/start-postgresql.js';
import { describeOutbox } from './outbox.rules.js';
import type { RunningServer } from './outbox-scene.js';

async function postgresql(): Promise<RunningServer> {
  const { server, url } = await startPostgresql({ fsync: 'off' });
  return { url, stop: () => server.stop() };
}

async function mariadb(): Promise<RunningServer> {
  const { server, url } = await startMariadb();
  return { url, stop: () => server.stop() };
}

/** It runs in this process. */
const none = () => Promise.resolve({ url: '', stop: () => Promise.resolve() });

describe.each(['pg', 'typeorm', 'prisma', 'drizzle', 'knex', 'kysely', 'mikro-orm', 'sequelize'])(
  'PostgreSQL through %s:',
  (library) => {
    describeOutbox(library, postgresql);
  },
);

describe.each(['mysql2', 'typeorm', 'drizzle', 'knex', 'kysely', 'mikro-orm', 'sequelize', 'sequelize-mariadb'])(
  'MariaDB through %s:',
  (library) => {
    describeOutbox(library, mariadb);
  },
);

describe.each(['pglite', 'drizzle-pglite'])('PGlite through %s:', (library) => {
  describeOutbox(library, none);
});
