import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { jsonLines, runCommand } from '../support/command-line.js';
import { randomName } from '../support/random-name.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';

let server: TestRedis;
let redis: Redis;

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const run = (...words: string[]) => runCommand({ url: server.url, prefix: randomName('test') }, 'doctor', ...words);
const verdictsOf = (output: string) =>
  Object.fromEntries(
    (jsonLines(output) as { check: string; verdict: string }[]).map(({ check, verdict }) => [check, verdict]),
  );

describe('the doctor', () => {
  it('approves a sound server, warns of missing persistence, and leaves no keys behind', async () => {
    const from = performance.now();
    const { code, output, problems } = await run();
    // The timers of a worker that is not let go of would go on for a third of a lease.
    expect(performance.now() - from).toBeLessThan(10_000);
    expect({ code, problems }).toEqual({ code: 0, problems: '' });
    const lines = output.split('\n').filter((line) => !line.startsWith(' '));
    expect(lines.slice(0, -1).map((line) => line.slice(0, 17).trimEnd())).toEqual([
      'ok    connection',
      'ok    version',
      'ok    eviction',
      'warn  persistence',
      'ok    permissions',
      'ok    functions',
      'ok    clock',
      expect.stringMatching(/^(ok|warn) {2,4}probe$/),
    ]);
    expect(await redis.keys('*')).toEqual([]);
  });

  it('fails if Redis may evict messages and the user lacks a permission, which it names', async () => {
    await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await redis.config('SET', 'appendonly', 'yes');
    await redis.call('ACL', 'SETUSER', 'reader', 'on', '>secret', '~*', '&*', '+@all', '-zadd');
    const url = server.url.replace('redis://', 'redis://reader:secret@');
    const { code, output, problems } = await run('orders', '--json', '--url', url);
    expect(code).toBe(1);
    expect(JSON.parse(problems)).toEqual({ message: '2 checks failed.' });
    expect(verdictsOf(output)).toEqual({
      connection: 'ok',
      version: 'ok',
      eviction: 'fail',
      persistence: 'ok',
      permissions: 'fail',
      functions: 'ok',
      clock: 'ok',
      probe: 'warn',
    });
    expect(output).toContain('+zadd');
    expect(output).not.toContain('secret');
    await redis.config('SET', 'maxmemory-policy', 'noeviction', 'appendonly', 'no');
  });

  it('lists the other databases that have keys, and says that their queues are separate', async () => {
    const databases = [2, 7].map((db) => new Redis(server.url, { db }));
    await Promise.all(databases.map((database) => database.set('a key', 'of another application')));
    const findings = async (url: string) => jsonLines((await run('--json', '--url', url)).output);
    const found = (text: string) => expect.objectContaining({ check: 'database', verdict: 'ok', found: text });
    const SEPARATE = 'queues are separate, even with the same prefix and name';
    expect(await findings(server.url)).toContainEqual(found(`0; 2, 7 of this server have keys, too: ${SEPARATE}`));
    expect(await findings(`${server.url}/2`)).toContainEqual(found(`2; 7 of this server has keys, too: ${SEPARATE}`));
    await Promise.all(databases.map((database) => database.del('a key')));
    for (const database of databases) database.disconnect();
  });

  it.each(['client|id', 'client|unblock'])('warns, but does not fail, if the user may not run %s', async (command) => {
    const user = randomName('lonely');
    await redis.call('ACL', 'SETUSER', user, 'on', '>secret', '~*', '&*', '+@all', `-${command}`);
    const { code, output } = await run('--json', '--url', server.url.replace('redis://', `redis://${user}:secret@`));
    expect(code).toBe(0);
    expect(verdictsOf(output)).toMatchObject({ permissions: 'ok', connections: 'warn' });
    expect(output).toContain(`lacks +${command}`);
  });

  it.each([
    [['INFO'], { connection: 'ok', version: 'fail' }],
    [['EVAL', 'FCALL'], { connection: 'ok', version: 'ok', eviction: 'ok', persistence: 'warn', scripts: 'fail' }],
  ])('fails if the server has renamed %j, and runs no further checks', async (commands, verdicts) => {
    const args = commands.flatMap((command) => ['--rename-command', command, `other-${command}`]);
    const renaming = await startRedis({ args });
    const { code, output } = await run('--json', '--url', renaming.url);
    await renaming.stop();
    expect(code).toBe(1);
    expect(verdictsOf(output)).toEqual(verdicts);
    expect(output).toContain(`rename-command ${commands[0]}`);
  });

  it.each([
    ['EVAL', 'FCALL'],
    ['FCALL', 'EVAL'],
  ])('accepts a server that has renamed %s, because %s suffices', async (command) => {
    const renaming = await startRedis({ args: ['--rename-command', command, 'other'] });
    const { code, output } = await run('--json', '--url', renaming.url);
    await renaming.stop();
    expect(code).toBe(0);
    expect(verdictsOf(output)).toMatchObject({ version: 'ok', permissions: 'ok' });
  });

  describe('about functions and scripts', () => {
    const functions = (found: unknown, verdict = 'warn') =>
      expect.objectContaining({ check: 'functions', verdict, found });
    const findings = async (url: string, ...words: string[]) =>
      jsonLines((await run('--json', '--url', url, ...words)).output);

    it('says that calls run as functions, or as scripts if the option `scripting` requires it', async () => {
      expect(await findings(server.url)).toContainEqual(functions('calls run as functions', 'ok'));
      const found = "calls run as scripts: `scripting` is 'scripts'";
      expect(await findings(server.url, '--scripting', 'scripts')).toContainEqual(functions(found, 'ok'));
    });

    it.each(['-fcall', '-function|load'])(
      "says that calls run as scripts if the user's ACL has %s, and fails if functions are required",
      async (rule) => {
        await redis.call('FUNCTION', 'FLUSH');
        const user = randomName('without');
        await redis.call('ACL', 'SETUSER', user, 'on', '>secret', '~*', '&*', '+@all', rule);
        const url = server.url.replace('redis://', `redis://${user}:secret@`);
        const found = expect.stringMatching(/^calls run as scripts: NOPERM /);
        expect(await findings(url)).toContainEqual(functions(found));
        const forced = await findings(url, '--scripting', 'functions');
        expect(forced.at(-1)).toMatchObject({
          check: 'scripts',
          verdict: 'fail',
          found: expect.stringContaining('NOPERM'),
        });
      },
    );

    it('says that calls run as scripts if the server does not know FCALL', async () => {
      const renaming = await startRedis({ args: ['--rename-command', 'FCALL', 'other'] });
      expect(await findings(renaming.url)).toContainEqual(
        functions(expect.stringMatching(/^calls run as scripts: ERR unknown command 'FCALL'/)),
      );
      await renaming.stop();
    });

    it('says that calls run as scripts if there is too little memory to load a library', async () => {
      await redis.call('FUNCTION', 'FLUSH');
      await redis.config('SET', 'maxmemory', '1');
      try {
        expect(await findings(server.url)).toContainEqual(
          functions(expect.stringMatching(/^calls run as scripts: OOM /)),
        );
      } finally {
        await redis.config('SET', 'maxmemory', '0');
      }
    });
  });

  it('stops after the connection check if the server is unreachable', async () => {
    const url = 'redis://127.0.0.1:1';
    const { code, output } = await run('--json', '--timeout', '200ms', '--url', url);
    expect(code).toBe(1);
    expect(verdictsOf(output)).toEqual({ connection: 'fail' });
  });
});
