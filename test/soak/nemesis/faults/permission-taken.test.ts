import { expect, test } from '@jest/globals';
import { commandsInUse } from './permission-taken.js';

test('the permissions taken away are those for the commands used by the functions and the connections', () => {
  const both = ['rpush', 'zadd', 'hset', 'publish', 'time', 'fcall', 'evalsha', 'blpop'];
  const native = commandsInUse('native');
  expect(native).toEqual(expect.arrayContaining([...both, 'hsetnx']));
  expect(native).not.toContain('lset');
  expect(commandsInUse('redisson')).toEqual(expect.arrayContaining([...both, 'lset', 'rpop', 'blmove']));
});
