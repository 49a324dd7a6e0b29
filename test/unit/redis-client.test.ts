import { describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import type { ConnectionOptions } from '../../lib/redis/options/connection-options.js';
import { createClient } from '../../lib/redis/connection/redis-client.js';

const optionsOf = (connection: ConnectionOptions) => (createClient(connection, 'commands') as Redis).options;

describe('a Redis client', () => {
  it('can be created from a URL, options or a function, and does not connect yet', () => {
    const connections: ConnectionOptions[] = [
      'redis://:secret@redis.internal:6380/2',
      { host: 'redis.internal', port: 6380, password: 'secret', db: 2 },
      (overrides) => new Redis({ host: 'redis.internal', port: 6380, password: 'secret', db: 2, ...overrides }),
    ];
    for (const connection of connections) {
      expect(optionsOf(connection)).toMatchObject({ host: 'redis.internal', port: 6380, password: 'secret', db: 2 });
      expect(createClient(connection, 'commands').status).toBe('wait');
    }
  });

  it('always reconnects, whatever the options say', () => {
    const { retryStrategy } = optionsOf({ retryStrategy: () => null });
    expect([1, 10, 1_000_000].map((times) => retryStrategy!(times))).toEqual([50, 500, 1000]);
  });

  it('never queues or resends commands, whatever the options say', () => {
    expect(optionsOf({ enableOfflineQueue: true, autoResendUnfulfilledCommands: true })).toMatchObject({
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
    });
  });

  it("is rejected if it comes from an async function, and that function's rejection does not end the process", async () => {
    const later = () => Promise.reject(new Error('no secrets today')) as unknown as Redis;
    expect(() => createClient(later, 'commands')).toThrow(/must return a new ioredis client/);
    // An unhandled rejection would fail the test in the next turn.
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('is rejected if the function returns a client in use, or no client', () => {
    const shared = new Redis({ lazyConnect: true });
    shared.status = 'ready';
    for (const made of [shared, {}, undefined]) {
      expect(() => createClient(() => made as Redis, 'wake-signals')).toThrow(/must return a new ioredis client/);
    }
  });
});
