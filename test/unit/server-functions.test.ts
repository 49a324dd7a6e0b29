import { afterEach, expect, it, jest } from '@jest/globals';
import { ScriptReply } from '../../lib/redis/script/script-reply.js';
import { ServerFunctions } from '../../lib/redis/script/server-functions.js';
import { nativeFunctions } from '../../lib/store/native/native-library.js';
import { ManualClock } from '../support/manual-clock.js';

afterEach(() => {
  jest.restoreAllMocks();
});

const missing = () => Promise.reject(Object.assign(new Error('ERR Function not found'), { name: 'ReplyError' }));

it.each([
  { left: 100, longest: 25 },
  { left: 10_000, longest: 100 },
])('waits $longest ms at most before it loads a library, for a call that has $left ms left', async (times) => {
  jest.spyOn(Math, 'random').mockReturnValue(1);
  const clock = new ManualClock();
  const sent: string[] = [];
  let isLoaded = false;
  const send = (command: string) => {
    sent.push(command);
    if (command === 'FUNCTION') isLoaded = true;
    return isLoaded ? Promise.resolve(new ScriptReply(1)) : missing();
  };
  const functions = new ServerFunctions(send, { clock });

  const call = functions.call(nativeFunctions.status, [], { deadline: clock.monotonic() + times.left });
  await clock.advance(times.longest - 1);
  expect(sent).toEqual(['FCALL']);
  await clock.advance(1);

  expect((await call).number()).toBe(1);
  expect(sent).toEqual(['FCALL', 'FCALL', 'FUNCTION', 'FCALL']);
});
