import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { explain, reasonOf } from '../../lib/redis/redis-errors.js';

/** What ioredis reports about a command, with everything that it was given. */
function errorOf(name: string, message: string): Error {
  return Object.assign(new Error(message), {
    name,
    command: { name: 'fcall', args: ['function', '1', 'key', 'payload-of-a-message'] },
    input: 'redis://:payload-of-a-message@host',
  });
}

describe('an error about a Redis command', () => {
  it.each([
    ['STORE_REFUSED', 'ReplyError', 'OOM command not allowed'],
    ['LOGIN_REFUSED', 'ReplyError', 'NOAUTH Authentication required.'],
    ['OUTCOME_UNKNOWN', 'Error', 'Connection is closed.'],
    ['NOT_CONNECTED', 'Error', "Stream isn't writeable and enableOfflineQueue options is false"],
  ])('shows the cause of %s, but not what the command was given', (code, name, message) => {
    const explained = explain('FCALL', errorOf(name, message));
    expect(explained).toMatchObject({ code, cause: { message } });
    expect(inspect(explained, { depth: Infinity, showHidden: true })).not.toContain('payload-of-a-message');
  });

  it('leaves out the arguments that the server repeats', () => {
    const message = "ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'payload-of-a-message'";
    const explained = explain('HELLO', errorOf('ReplyError', message));
    expect(explained).toMatchObject({ cause: { message: "ERR unknown command 'HELLO'" } });
    expect(inspect(explained, { depth: Infinity, showHidden: true })).not.toContain('payload-of-a-message');
  });

  it('is the error of one server if it combines those of several', () => {
    const [first, second] = [errorOf('Error', 'first'), errorOf('Error', 'second')];
    expect(reasonOf(new AggregateError([first, second]))).toBe(first);
    expect(reasonOf(Object.assign(new Error('none'), { lastNodeError: second }))).toBe(second);
  });
});
