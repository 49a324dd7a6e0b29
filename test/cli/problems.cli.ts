import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCommand } from '../support/command-line.js';
import { randomName } from '../support/random-name.js';
import { onRandomPort } from '../support/redis/random-port.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';

const SECRET = 'hunter2-never-print-this';
const prefix = randomName('test');
let server: TestRedis;

beforeAll(async () => {
  server = await startRedis({ args: ['--requirepass', SECRET] });
});

afterAll(() => server.stop());

const withLogin = (login: string) => server.url.replace('redis://', `redis://${login}@`);
const run = (url: string, ...words: string[]) => runCommand({ url, prefix }, ...words);

/** Each is one line, without a stack. */
function expectOneLine(problems: string): void {
  expect(problems.trimEnd().split('\n')).toHaveLength(1);
  expect(problems).not.toMatch(/ {4}at /);
}

describe('the command line', () => {
  it('exits with code 2 and explains in one line that a command is unknown', async () => {
    const { code, output, problems } = await run(server.url, 'nonsense');
    expect({ code, output }).toEqual({ code: 2, output: '' });
    expect(problems).toBe("error: unknown command 'nonsense' (see --help)\n");
  });

  it('reports that Redis cannot be reached, and why', async () => {
    let url = '';
    await onRandomPort((port) => Promise.resolve(void (url = `redis://app:${SECRET}@127.0.0.1:${port}`)));
    const { code, output, problems } = await run(url, 'counts', 'orders', '--timeout', '300ms');
    expect({ code, output }).toEqual({ code: 1, output: '' });
    expect(problems).toMatch(/^Redis at 127\.0\.0\.1:\d+ cannot be reached \(connect ECONNREFUSED .*\): .* --url or/);
    expectOneLine(problems);
    expect(problems).not.toContain(SECRET);
  });

  it.each(['counts', 'doctor'])(
    'reports that the login was refused, and never prints the password: %s',
    async (name) => {
      const { code, output, problems } = await run(withLogin(`:${SECRET}-or-so`), name, 'orders');
      expect(code).toBe(1);
      expect(output + problems).toMatch(/Redis refuses the login.*WRONGPASS/);
      expect(output + problems).not.toContain(SECRET);
      expectOneLine(problems);
    },
  );

  it('prints its errors as JSON with --json', async () => {
    const { code, problems } = await run(server.url, 'counts', 'orders', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(problems)).toMatchObject({ code: 'LOGIN_REFUSED', message: expect.stringContaining('NOAUTH') });
  });
});
