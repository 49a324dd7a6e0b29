import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { RedisCommands } from '../../lib/redis/commands/redis-commands.js';
import { RedisServer } from '../../lib/redis/commands/redis-server.js';
import { systemClock } from '../../lib/timing/clock.js';
import { LoggedEvents } from '../support/logged-events.js';
import { sharedRedisUrl } from '../support/redis/shared-redis.js';

type Handle = Record<string, unknown>;

describe('RedisServer', () => {
  let server: RedisServer;
  let commands: RedisCommands;
  /** How often the socket was written to: each is a system call. */
  let writes: number;

  beforeEach(async () => {
    const settings = {
      connection: sharedRedisUrl(),
      clock: systemClock,
      events: new LoggedEvents(),
      commandTimeout: 5000,
    };
    server = new RedisServer('commands', settings);
    commands = new RedisCommands(server, settings);
    await server.ready('PING');
    writes = 0;
    const handle = ((server.client as Redis).stream as unknown as { readonly _handle: Handle })._handle;
    for (const name of ['writev', 'writeBuffer', 'writeUtf8String', 'writeLatin1String', 'writeAsciiString']) {
      const write = handle[name] as (...given: unknown[]) => unknown;
      handle[name] = (...given: unknown[]) => (writes++, write.apply(handle, given));
    }
  });
  afterEach(() => server.close());

  it('writes a single command immediately', async () => {
    const answer = commands.send('ECHO', 'alone');
    expect(writes).toBe(1);
    expect((await answer).text()).toBe('alone');
  });

  it('writes the first of many commands in a turn immediately, and the others together and in order', async () => {
    const words = Array.from({ length: 500 }, (_, i) => `word ${i}`);
    const answers = words.map(async (word) => (await commands.send('ECHO', word)).text());
    expect(writes).toBe(1);
    expect(await Promise.all(answers)).toEqual(words);
    expect(writes).toBe(2);
  });

  it('writes commands of later turns while earlier ones are unanswered', async () => {
    const answers = [commands.send('ECHO', 'first')];
    await new Promise((resolve) => process.nextTick(resolve));
    answers.push(commands.send('ECHO', 'second'));
    await Promise.all(answers);
    expect(writes).toBe(2);
  });
});
