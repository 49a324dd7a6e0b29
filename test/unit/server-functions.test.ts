import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Events } from '../../lib/events/events.js';
import { RedisCommands } from '../../lib/redis/commands/redis-commands.js';
import type { RedisServer } from '../../lib/redis/commands/redis-server.js';
import { ScriptReply } from '../../lib/redis/script/script-call.js';
import { ServerFunctions } from '../../lib/redis/script/server-functions.js';
import { nativeFunctions } from '../../lib/store/native/native-library.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { ManualClock } from '../support/manual-clock.js';

const TIMEOUT = 10_000;

let clock: ManualClock;
/** The commands that the server got. */
let sent: string[];
/** Answers `FUNCTION LOAD`. */
let load: () => Promise<void>;
let isLoaded: boolean;
let commands: RedisCommands;

const errorReply = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' });

beforeEach(() => {
  jest.spyOn(Math, 'random').mockReturnValue(1);
  clock = new ManualClock();
  sent = [];
  isLoaded = false;
  load = () => Promise.resolve();
  const send = async (command: string) => {
    sent.push(command);
    if (command === 'FUNCTION') {
      await load();
      isLoaded = true;
    }
    if (command === 'FCALL' && !isLoaded) throw errorReply('ERR Function not found');
    return new ScriptReply([1]);
  };
  const server = {
    isReady: true,
    isClosed: false,
    functions: new ServerFunctions(send, { clock, events: new Events() }),
    call: send,
    of: () => server,
    detour: () => undefined,
  } as unknown as RedisServer;
  commands = new RedisCommands(server, { clock, commandTimeout: TIMEOUT });
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** @param left - how long the call may take, ms */
const call = (left = TIMEOUT) =>
  commands.run(nativeFunctions.status, { keys: nativeKeys('p', 'orders'), notAfter: clock.monotonic() + left });

it.each([
  { left: 100, longest: 25 },
  { left: 10_000, longest: 100 },
])('a call with $left ms left waits at most $longest ms before it loads a library', async (times) => {
  const called = call(times.left);
  await clock.advance(times.longest - 1);
  expect(sent).toEqual(['FCALL']);
  await clock.advance(1);

  expect((await called).number()).toBe(1);
  expect(sent).toEqual(['FCALL', 'FCALL', 'FUNCTION', 'FCALL']);
});

it('a lost library is loaded once for all calls that need it', async () => {
  const first = call();
  await clock.advance(100);
  await first;
  [isLoaded, sent] = [false, []];

  const calls = [call(), call(), call()];
  await clock.advance(100);

  await Promise.all(calls);
  expect(sent).toEqual(['FCALL', 'FCALL', 'FCALL', 'FCALL', 'FUNCTION', 'FCALL', 'FCALL', 'FCALL']);
});

it.each(['was never loaded', 'was lost'])(
  'a call fails in time while another call loads a library that %s',
  async (state) => {
    if (state === 'was lost') {
      const first = call();
      await clock.advance(100);
      await first;
      isLoaded = false;
    }
    load = () => new Promise(() => undefined);
    void call();
    const failed = call(2000).catch((error: unknown) => error);
    await clock.advance(2000);
    expect(await failed).toMatchObject({ code: 'NOT_CONNECTED' });
  },
);
