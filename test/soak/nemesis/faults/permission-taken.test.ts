import { expect, test } from '@jest/globals';
import { commandsInUse } from './permission-taken.js';

test('the permissions to take are those for the commands of the scripts and of the connections', () => {
  const native = commandsInUse('native');
  expect(native).toEqual(expect.arrayContaining(['rpush', 'zadd', 'hset', 'publish', 'time', 'evalsha', 'blpop']));
  expect(native).not.toContain('lset');
  expect(commandsInUse('redisson')).toEqual(expect.arrayContaining([...native, 'lset', 'rpop', 'blmove']));
});
