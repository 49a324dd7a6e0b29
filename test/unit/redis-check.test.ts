import { beforeEach, describe, expect, it } from '@jest/globals';
import type { RedisCommands } from '../../lib/redis/commands/redis-commands.js';
import { RedisCheck } from '../../lib/redis/check/redis-check.js';
import type { RedisServer } from '../../lib/redis/commands/redis-server.js';
import { type ScriptCall, ScriptReply } from '../../lib/redis/script/script-call.js';
import { LoggedEvents } from '../support/logged-events.js';
import { until } from '../support/until.js';

const QUEUES = 100;
const COMMANDS = 50;

interface FakeServer {
  runId: string;
  version: string;
  user: string;
  /** True if its user lacks the permission for the first command of each queue. */
  refuses: boolean;
}

describe('the Redis check', () => {
  const server: FakeServer = { runId: '', version: '', user: '', refuses: false };
  let events: LoggedEvents;
  /** The number of commands that each script asked about. */
  let asked: number[];
  let infos: number;
  let becomeReady: () => void;

  beforeEach(async () => {
    Object.assign(server, { runId: 'a', version: '8.0.0', user: 'default', refuses: false });
    events = new LoggedEvents();
    await start();
  });

  async function start(): Promise<void> {
    [asked, infos] = [[], 0];
    const connected = { isClosed: false, get user() { return server.user; } } as RedisServer; // prettier-ignore
    const commands = {
      on: () => commands,
      servers: {
        all: () => Promise.resolve([connected]),
        onReady: (listener: (ready: RedisServer) => void) => (becomeReady = () => listener(connected)),
      },
      info: () => {
        infos++;
        return Promise.resolve([`run_id:${server.runId}\r\nredis_version:${server.version}\r\n`]);
      },
      run: (_: unknown, { rest }: ScriptCall) => {
        asked.push(rest!.length / 2);
        return Promise.resolve(new ScriptReply(server.refuses ? [1] : []));
      },
    } as unknown as RedisCommands;
    const needed = Array.from({ length: COMMANDS }, (_, i) => ({ name: 'GET', target: `key${i}` }));
    const queues = Array.from({ length: QUEUES }, (_, i) => ({ name: `queue${i}`, needed: () => needed }));
    await new RedisCheck({ commands, queues, allowEviction: false, events, onFirst: () => undefined }).start();
  }

  /** @returns the number of commands that it asks about after a new connection */
  async function reconnect(changes: Partial<FakeServer> = {}): Promise<number> {
    Object.assign(server, changes);
    const [before, infosBefore] = [asked.length, infos];
    becomeReady();
    await until(() => infos > infosBefore);
    await new Promise((resolve) => setImmediate(resolve));
    return asked.slice(before).reduce((sum, commands) => sum + commands, 0);
  }

  it('checks all queues at startup, a thousand commands at a time', () => {
    // The last one asks about none: it shows that the server also runs a script by its digest.
    expect(asked).toEqual([...Array.from({ length: (QUEUES * COMMANDS) / 1000 }, () => 1000), 0]);
  });

  it('does not check any command again when the same server comes back', async () => {
    expect(await reconnect()).toBe(0);
  });

  it('checks one queue if the server was restarted or replaced', async () => {
    expect(await reconnect({ runId: 'b' })).toBe(COMMANDS);
    expect(await reconnect()).toBe(0);
    expect(await reconnect({ runId: 'a' })).toBe(0);
  });

  it.each([{ version: '8.2.0' }, { user: 'other' }])('checks all queues again after a change to %o', async (change) => {
    expect(await reconnect(change)).toBe(QUEUES * COMMANDS);
    expect(await reconnect({ runId: 'b' })).toBe(COMMANDS);
  });

  it('checks all queues if a replacement server refuses a command, and logs which cannot be served', async () => {
    expect(await reconnect({ runId: 'b', refuses: true })).toBe(COMMANDS + QUEUES * COMMANDS);
    expect(events.lines).toContainEqual(expect.stringContaining("Queue 'queue20' cannot be served"));
    expect(await reconnect({ refuses: false })).toBe(COMMANDS);
  });
});
