import { describe } from '@jest/globals';
import { startPostgresql } from '../support/databases/start-postgresql.js';
import { describeOutbox } from './outbox.rules.js';

describe('the outbox in PostgreSQL through pg', () => {
  describeOutbox('pg', async () => {
    const { server, url } = await startPostgresql({ fsync: 'off' });
    return { url, stop: () => server.stop() };
  });
});
