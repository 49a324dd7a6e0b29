import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { RedisConnection } from '../../lib/redis/connection/redis-connection.js';
import { LoggedEvents } from '../support/logged-events.js';
import { ManualClock } from '../support/manual-clock.js';

describe('a connection whose client has given up', () => {
  let clock: ManualClock;
  let connection: RedisConnection;
  /** How often the client was told to connect. */
  let attempts: number;

  beforeEach(() => {
    clock = new ManualClock();
    attempts = 0;
    const settings = { connection: 'redis://localhost', clock, events: new LoggedEvents(), commandTimeout: 5000 };
    connection = new RedisConnection('commands', settings);
    connection.client.connect = () => {
      attempts++;
      return Promise.resolve();
    };
  });

  afterEach(() => connection.close());

  function giveUp(): void {
    connection.client.status = 'end';
    connection.client.emit('end');
  }

  it('is opened again a second later, each time', async () => {
    for (const count of [1, 2]) {
      giveUp();
      await clock.advance(999);
      expect(attempts).toBe(count - 1);
      await clock.advance(1);
      expect(attempts).toBe(count);
    }
  });

  it('stays as it is once it is closed', async () => {
    await connection.close();
    giveUp();
    await clock.advance(10_000);
    expect(attempts).toBe(0);
  });

  it('stays as it is while it rests, until it is needed', async () => {
    connection.rest();
    giveUp();
    await clock.advance(10_000);
    expect(attempts).toBe(0);
    connection.connect();
    expect(attempts).toBe(1);
  });
});
