import { describe, expect, test } from '@jest/globals';
import { RedisLibrary } from '../../lib/redis/script/redis-library.js';
import { wordsOf } from '../../lib/redis/script/script-call.js';

const LAYOUT = { delayed: 'q:delayed', ready: 'q:ready', ended: 'q:ended:' };

const functionWith = (header: string, code = 'return 1') =>
  `${header}local function run(keys, args)\n  ${code}\nend\n\nregister('move', { 'allow-oom' }, run)\n`;

/** A library with one function, and modules by the names of their files. */
function library(text: string, modules: Readonly<Record<string, string>> = {}): RedisLibrary {
  const read = (path: string) => modules[path.replace('lua/modules/', '')] ?? text;
  return new RedisLibrary('nestjs-delay-queue: tests', [{ read, modules: Object.keys(modules), functions: ['move'] }]);
}

const HEADER = [
  '-- Moves what is due.',
  '--',
  '-- KEYS delayed',
  '--      ended:scheduler_id',
  '--      | ready',
  '-- ARGV deadline: text, instant in ms, 0: none',
  '--      scheduler_id: text, who asks;',
  '--        limit: is none of the names',
  '--      | rule: number',
  '--      ...: for each message: id',
  '-- Returns nothing.',
  '',
].join('\n');

describe('a library', () => {
  test("contains the digest of its source in its name and in its functions' names", () => {
    const one = library(functionWith(''));
    const other = library(functionWith('', 'return 2'));
    expect(one.name).toMatch(/^delay_queue_[0-9a-f]{12}$/);
    expect(one.source).toContain(`#!lua name=${one.name}\n`);
    expect(other.name).not.toBe(one.name);
    expect(one.define('move', LAYOUT).calledAs).toBe(`move_${one.name.replace('delay_queue_', '')}`);
  });

  test('is recognized by its source, whatever its version, unless the source was modified', () => {
    const other = library(functionWith('', 'return 2'));
    expect(RedisLibrary.recognize(other.source)).toEqual({ name: other.name, purpose: 'nestjs-delay-queue: tests' });
    const renamed = other.source.replaceAll(other.name.slice(-12), '0123456789ab');
    const changed = other.source.replace('return 2', 'return 3');
    const foreign = `#!lua name=${other.name}\nredis.register_function('f', function() end)\n`;
    for (const source of [renamed, changed, foreign, `${other.source}--\n`, '']) {
      expect(RedisLibrary.recognize(source)).toBeUndefined();
    }
  });

  test('has no comments or empty lines, because the server stores it', () => {
    const { source } = library(functionWith('', '-- why\n\n    return 1'));
    expect(source).not.toMatch(/^\s*--|^\s*\n/m);
  });

  test('provides each function as a script with its flags and only the code that it needs', () => {
    const modules = {
      far: 'function Far.reach()\n  return 1\nend\n\nfunction Far.other()\n  return 3\nend\n',
      near: 'function Near.reach()\n  return Far.reach()\nend\n',
      'not-used': 'function NotUsed.reach()\n  return 2\nend\n',
    };
    const { source, sha1 } = library(functionWith('', 'return Near.reach()'), modules).define('move', LAYOUT)
      .scripts[0]!;
    expect(source).toMatch(/^#!lua flags=allow-oom\n/);
    expect(source.split('\n').slice(2)).toEqual([
      ...['local function Far_reach()', 'return 1', 'end', 'local function Near_reach()', 'return Far_reach()', 'end'],
      ...['local keys, args = KEYS, ARGV', 'return Near_reach()', ''],
    ]);
    expect(sha1).toMatch(/^[0-9a-f]{40}$/);
  });
});

describe('a header', () => {
  test('declares the required keys and arguments of a call, and the optional ones', () => {
    const { keys, args, hasRest, hasDeadline } = library(functionWith(HEADER)).define('move', LAYOUT);
    expect(keys.map((set) => set.map(({ name }) => name))).toEqual([['delayed', 'ended_scheduler_id'], ['ready']]);
    expect(args.map((set) => set.map(({ givenAs }) => givenAs))).toEqual([['deadline', 'schedulerId'], ['rule']]);
    expect([hasRest, hasDeadline]).toEqual([true, true]);
  });

  test.each([
    ['names a key that the layout lacks', '-- KEYS asleep\n', /names the key asleep/],
    ['contains something that is not a key', '-- KEYS delayed, ready\n', /neither a key nor an argument: delayed,/],
    ['contains something that is not an argument', '-- ARGV id\n', /neither a key nor an argument: id/],
    ['declares an argument without its type', '-- ARGV id: any\n', /neither a key nor an argument: id: any/],
  ])('is rejected if it %s', (_, header, message) => {
    expect(() => library(functionWith(header)).define('move', LAYOUT)).toThrow(message);
  });
});

describe('the words of a call', () => {
  const move = library(functionWith(HEADER)).define('move', LAYOUT);
  const args = { schedulerId: 'me' };

  test('are the keys and arguments in the order of the header', () => {
    expect(wordsOf(move, { keys: LAYOUT, args, rest: ['a', 'b'] }, 7)).toEqual([
      ...[move.calledAs, 2, 'q:delayed', 'q:ended:me', 7, 'me', 'a', 'b'],
    ]);
  });

  test('include the optional keys and arguments only if the call sends them', () => {
    const words = wordsOf(move, { keys: LAYOUT, further: 1, args: { ...args, rule: 5 }, rest: ['a'] }, 0);
    expect(words).toEqual([move.calledAs, 3, 'q:delayed', 'q:ended:me', 'q:ready', 0, 'me', 5, 'a']);
  });

  test('are rejected if any are missing or undeclared', () => {
    expect(() => wordsOf(move, { keys: LAYOUT }, 0)).toThrow('move: the argument schedulerId is missing');
    expect(() => wordsOf(move, { keys: LAYOUT, args: { ...args, rule: 5 } }, 0)).toThrow(/more arguments/);
    const without = library(functionWith('-- KEYS delayed\n')).define('move', LAYOUT);
    expect(() => wordsOf(without, { keys: LAYOUT, rest: ['a'] }, 0)).toThrow(/more arguments/);
  });
});
