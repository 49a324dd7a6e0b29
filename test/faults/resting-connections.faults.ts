import { connect, createServer, type Server } from 'node:net';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { RedisCommands } from '../../lib/redis/commands/redis-commands.js';
import { RedisServer } from '../../lib/redis/commands/redis-server.js';
import { RedisConnection } from '../../lib/redis/connection/redis-connection.js';
import { Startup } from '../../lib/redis/connection/startup.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { nativeFunctions } from '../../lib/store/native/native-library.js';
import { systemClock } from '../../lib/timing/clock.js';
import { onRandomPort } from '../support/redis/random-port.js';
import { LoggedEvents } from '../support/logged-events.js';
import { ManualClock } from '../support/manual-clock.js';
import { Scene } from '../support/scene.js';

/** A connection that nothing uses while the application starts is closed until it is needed. */
describe('a resting connection', () => {
  const scene = new Scene({});
  let connection: RedisConnection;

  function open(url: string): RedisConnection {
    const settings = { connection: url, clock: systemClock, events: new LoggedEvents(), commandTimeout: 5000 };
    return new RedisConnection('commands', settings);
  }

  afterEach(() => {
    jest.restoreAllMocks();
    return connection.close();
  });

  test.each(['connecting', 'connect', 'ready', 'end'])(
    "reopens at once if it was in state '%s' when it began to rest",
    async (event) => {
      const settings = { connection: scene.url, clock: systemClock, events: new LoggedEvents(), commandTimeout: 5000 };
      connection = new RedisConnection('commands', settings);
      const happened = new Promise((resolve) => connection.client.once(event === 'end' ? 'ready' : event, resolve));
      connection.connect();
      await happened;
      const ended = new Promise((resolve) => connection.client.once('end', resolve));
      connection.rest();
      if (event === 'end') await ended;
      const start = performance.now();
      await connection.ready('PING');
      expect(await connection.client.ping()).toBe('PONG');
      expect(performance.now() - start).toBeLessThan(900);
    },
  );

  test('opens once it is needed, even if it could not reach Redis before', async () => {
    const port = await onRandomPort(async (free) => {
      await listenOn(free).then((server) => server.close());
      return free;
    });
    connection = open(`redis://127.0.0.1:${port}`);
    connection.connect();
    await new Promise((resolve) => connection.client.once('reconnecting', resolve));
    connection.rest();
    const server = await listenOn(port);
    try {
      await connection.ready('PING');
      expect(await connection.client.ping()).toBe('PONG');
    } finally {
      await connection.close();
      server.close();
    }
  });

  test('does not begin to rest while a call waits before it loads a library', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(1);
    const clock = new ManualClock();
    const settings = { clock, events: new LoggedEvents(), commandTimeout: 10_000 };
    const server = new RedisServer('commands', { ...settings, connection: scene.url, startup: new Startup(clock) });
    connection = server;
    await server.ready('FCALL');
    await clock.advance(200);
    const keys = nativeKeys(scene.prefix, scene.newQueue());
    const call = new RedisCommands(server, settings).run(nativeFunctions.status, { keys });
    // The answer to the call has come before this one: Redis does not have the library.
    await server.client.ping();
    await clock.advance(99);
    expect(server.isResting).toBe(false);
    await clock.advance(1);
    await call;
  });

  /** Passes on to Redis what arrives at a port. */
  async function listenOn(port: number): Promise<Server> {
    const server = createServer((socket) => {
      const { hostname, port } = new URL(scene.url);
      const redis = connect(Number(port), hostname);
      for (const [from, to] of [
        [socket, redis],
        [redis, socket],
      ] as const)
        from.on('error', () => to.destroy()).pipe(to);
    });
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
    return server;
  }
});
