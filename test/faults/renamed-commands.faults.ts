import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis-5';
import { DelayQueueModule, type DelayQueueModuleOptions } from '../../lib/index.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { handlerOf, startTestApp } from '../support/test-app.js';
import { refusalOf } from '../support/refusal.js';

const MAJORS: Readonly<Record<string, (url: string) => DelayQueueModuleOptions['connection']>> = {
  'ioredis 6': (url) => url,
  'ioredis 5': (url) => (overrides) => new (Redis5 as unknown as typeof Redis)(url, overrides),
};

/** The output that bypasses the logger. */
let written: unknown[];
beforeEach(() => {
  written = [];
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    jest.spyOn(console, method).mockImplementation((...words: unknown[]) => void written.push(words));
  }
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe.each(Object.entries(MAJORS))('with %s', (_major, connect) => {
  let server: TestRedis;
  afterEach(() => server.stop());

  test('a server whose EVAL was renamed gets functions as usual', async () => {
    server = await startRedis({ args: ['--rename-command', 'EVAL', 'secret-name'] });
    const { producer, log, close } = await startTestApp({ connection: connect(server.url) });
    await producer.offer('orders', 1, '1h');
    await close();
    expect(log.join()).not.toMatch(/functions/);
  });

  test('a server whose FCALL was renamed gets scripts instead of functions, which is logged once', async () => {
    server = await startRedis({ args: ['--rename-command', 'FCALL', 'secret-name'] });
    const { producer, log, close } = await startTestApp({ connection: connect(server.url) });
    await producer.offer('orders', 1, '1h');
    await close();
    expect(log.filter((line) => line.includes('Functions are not available in Redis'))).toHaveLength(1);
  });

  test.each(['INFO', 'EVAL', 'EVALSHA'])(
    'a server whose FCALL and %s were renamed makes workers and producers fail at startup, and the error names the command',
    async (command) => {
      const renamed = ['--rename-command', 'FCALL', 'secret-call', '--rename-command', command, 'secret-name'];
      server = await startRedis({ args: renamed });
      for (const consume of [true, false]) {
        const module = { connection: connect(server.url), consume };
        const error = await refusalOf(startTestApp(module, { providers: [handlerOf('orders', () => undefined)] }));
        expect(error).toMatchObject({
          code: 'UNSUPPORTED_SERVER',
          message: expect.stringMatching(new RegExp(`not know the command ${command}\\b.*rename-command`)),
        });
      }
      expect(written).toEqual([]);
    },
  );

  test('a user who may not call INFO is served, and nothing is written to the console', async () => {
    server = await startRedis({ args: ['--user', 'uninformed', 'on', '>secret', '~*', '&*', '+@all', '-info'] });
    const connection = connect(server.url.replace('redis://', 'redis://uninformed:secret@'));
    const { producer, log, close } = await startTestApp({ connection });
    await producer.offer('orders', 1, '1h');
    await close();
    expect(log).toContainEqual(expect.stringMatching(/warn .*does not reveal its version/));
    expect(written).toEqual([]);
  });

  test('a login that is refused makes startup fail, and the log does not mention retries', async () => {
    server = await startRedis({ args: ['--requirepass', 'secret'] });
    const lines: string[] = [];
    const record = (message: unknown) => void lines.push(String(message));
    const logger = { log: record, warn: record, error: record };
    const connection = connect(server.url.replace('redis://', 'redis://:wrong@'));
    const starting = NestFactory.createApplicationContext(DelayQueueModule.forRoot({ connection }), {
      logger,
      abortOnError: false,
    });
    await expect(starting).rejects.toMatchObject({ code: 'LOGIN_REFUSED' });
    expect(lines.filter((line) => /retrying|is down/.test(line))).toEqual([]);
    expect(written).toEqual([]);
  });
});
