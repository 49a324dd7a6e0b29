import { describe, expect, test } from '@jest/globals';
import { loadScript } from '../../lib/redis/script/redis-script.js';
import { wordsOf } from '../../lib/redis/script/script-call.js';

const LAYOUT = { delayed: 'q:delayed', ready: 'q:ready', ended: 'q:ended:' };

/** Loads a script from the given files, named by `<home>/<path>`, without `.lua`. */
const load = (files: Readonly<Record<string, string>>) => {
  const home = (name: string) => (path: string) => {
    const text = files[`${name}/${path}`];
    if (text === undefined) throw new Error(`${path} is read, and is not there`);
    return text;
  };
  return loadScript('native/move', LAYOUT, { native: home('native'), other: home('other') });
};

const loadOne = (...lines: string[]) => load({ 'native/lua/move': lines.join('\n') });

describe('a script', () => {
  test('has KEYS and ARGV positions in place of the names that its header declares', () => {
    const { source } = loadOne(
      '#!lua flags=allow-oom',
      '-- Moves what is due.',
      '--',
      '-- KEYS delayed',
      '--      ended:scheduler_id [ready] if there is something to move',
      '-- ARGV deadline: number, instant in ms, 0: none',
      '--      scheduler_id: text, who asks;',
      '--        limit: is none of the names',
      '--      ...: for each message: id',
      '-- Returns nothing.',
      '',
      '-- args.of_a_comment is no use of it.',
      'return { keys.delayed, keys.ended_scheduler_id, keys.ready, args.deadline, args.scheduler_id, ARGV[FIRST] }',
      '',
    );
    expect(source.split('\n')).toEqual([
      '#!lua flags=allow-oom',
      'return { KEYS[1], KEYS[2], KEYS[3], tonumber(ARGV[1]), ARGV[2], ARGV[3] }',
      '',
    ]);
  });

  test('that includes the arguments of another script takes these first, then its own', () => {
    const { args, hasRest } = load({
      'native/lua/move':
        '-- ARGV as native/take, all of them\n--      last: text\nreturn args.id .. args.last .. FIRST\n',
      'native/lua/take': '-- ARGV id: text\n--      ...: others\n',
    });
    expect(args.map(({ name }) => name)).toEqual(['id', 'last']);
    expect(hasRest).toBe(true);
  });

  test.each([
    ['names a key that the layout lacks', '-- KEYS asleep', 'return keys.asleep', /names the key asleep/],
    [
      'ends a key with an argument that it does not declare',
      '-- KEYS ended:id',
      'return keys.ended_id',
      /appends the argument id/,
    ],
    ['has no name for a key that the code uses', '-- KEYS ready', 'return keys.ready .. keys.delayed', /keys\.delayed/],
    ['has no name for an argument that the code uses', '-- KEYS ready', 'return keys.ready .. args.id', /args\.id/],
    ['names a key that the code does not use', '-- KEYS ready delayed', 'return keys.ready', /not use: keys\.delayed/],
    ['names an argument that the code does not use', '-- ARGV id: text', 'return 1', /not use: args\.id/],
    [
      'cannot name the table of all keys, which the code uses',
      '-- KEYS ready',
      'return #keys .. keys.ready',
      /not declare: keys$/,
    ],
    ['has more arguments than the code uses', '-- ARGV ...: ids', 'return 1', /not use: FIRST/],
    [
      'declares no further arguments, although the code uses them',
      '-- Moves.',
      'return ARGV[FIRST]',
      /does not declare: FIRST/,
    ],
    ['declares names while the code uses numbers', '-- KEYS ready', 'return keys.ready .. KEYS[1]', /KEYS\[1/],
    ['does not say what type an argument has', '-- ARGV id', 'return args.id', /neither a key nor an argument: id/],
    ['has a key that is not a name', '-- KEYS ready, delayed', 'return keys.ready', /neither .*: ready,/],
    ['leaves a bracket open', '-- KEYS ready [delayed', 'return keys.ready', /neither .*: ready \[delayed/],
  ])('whose header %s is refused', (_case, header, code, problem) => {
    expect(() => loadOne(header, code, '')).toThrow(problem);
  });

  test('contains each part once, ahead of the parts that include it', () => {
    const { source } = load({
      'native/lua/move': '--@include one\n--@include other/two\n--@include three\nreturn one() + two() + three()\n',
      'native/lua/include/one': '--@include three\nlocal function one() return three() end\n',
      'other/lua/include/two': '--@include native/three\n--@include own\nlocal function two() return three() end\n',
      'other/lua/include/own': 'local OWN = 1\n',
      'native/lua/include/three': '-- Says three.\nlocal function three() return 3 end\n',
    });
    expect(source.split('\n').slice(0, -1)).toEqual([
      'local function three() return 3 end',
      'local function one() return three() end',
      'local OWN = 1',
      'local function two() return three() end',
      'return one() + two() + three()',
    ]);
  });

  test('whose parts include each other is refused', () => {
    const files = {
      'native/lua/move': '--@include one\n',
      'native/lua/include/one': '--@include two\n',
      'native/lua/include/two': '--@include one\n',
    };
    expect(() => load(files)).toThrow('native/move: parts include each other: native/one → native/two → native/one');
  });
});

describe('a script call', () => {
  const script = loadOne(
    '-- KEYS ready ended:token_id [delayed]',
    '-- ARGV deadline: number',
    '--      token_id: text',
    '--      ...: ids',
    'return { keys.ready, keys.ended_token_id, keys.delayed, args.deadline, args.token_id, FIRST }',
    '',
  );
  const args = { tokenId: 't' };

  test('sends what the header names, in its order', () => {
    expect(wordsOf(script, { keys: LAYOUT, args, rest: ['a', 'b'] }, 7)).toEqual([
      ...[script.sha1, 2, 'q:ready', 'q:ended:t'],
      ...[7, 't', 'a', 'b'],
    ]);
  });

  test('sends the keys in brackets on request', () => {
    const words = wordsOf(script, { keys: LAYOUT, args, optionalKeys: true }, 0);
    expect(words).toEqual([script.sha1, 3, 'q:ready', 'q:ended:t', 'q:delayed', 0, 't']);
  });

  test('with a missing or a superfluous argument is refused', () => {
    expect(() => wordsOf(script, { keys: LAYOUT }, 0)).toThrow('move: the argument tokenId is missing');
    expect(() => wordsOf(script, { keys: LAYOUT, args: { ...args, id: 'a' } }, 0)).toThrow(/more arguments/);
    const without = loadOne('-- KEYS ready', 'return keys.ready', '');
    expect(() => wordsOf(without, { keys: LAYOUT, rest: ['a'] }, 0)).toThrow(/more arguments/);
  });
});
