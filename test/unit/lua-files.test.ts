import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readHeader } from '../../lib/redis/script/lua-header.js';

const ROOT = path.resolve(import.meta.dirname, '../..');

const files = ['lib', 'packages/redisson/src']
  .flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => path.join(folder, file)),
  )
  .filter((file) => file.endsWith('.lua'))
  .map((file) => ({ file, name: path.basename(file, '.lua'), text: readFileSync(path.join(ROOT, file), 'utf8') }));
const modules = files.filter(({ file }) => file.includes('modules'));
const functions = files.filter(({ text }) => text.includes("register('"));

/** The names that code gives to keys, or to arguments, by their positions: as local variables or as fields of a table. */
function namesGiven(code: string, list: 'keys' | 'args'): Record<number, string> {
  const names: Record<number, string> = {};
  const given = (name: string, value = '') => {
    const at = new RegExp(`^(?:tonumber\\()?${list}\\[(\\d+)\\]\\)?$`).exec(value)?.[1];
    if (at !== undefined) names[Number(at)] = name;
  };
  for (const line of code.split('\n')) {
    const [, left, right] = /^ *local ([\w, ]+) = ([^{]+)$/.exec(line) ?? [];
    if (left !== undefined) left.split(', ').forEach((name, i) => given(name, right!.split(', ')[i]));
    else for (const [, name, value] of line.matchAll(/(\w+) = ([^,}\s]+)/g)) given(name!, value);
  }
  return names;
}

describe('a Lua function', () => {
  test.each(functions)('$file names its keys and arguments as its header declares them', ({ name, text }) => {
    const { keys, args } = readHeader(name, text);
    const code = text.slice(text.search(/^local function (short|run)\(/m));
    const declared = {
      keys: keys.flat().map((key) => key.name),
      args: args.flat().map((argument) => argument.name),
    };
    expect(Object.values(namesGiven(code, 'keys'))).toEqual(declared.keys);
    const given = namesGiven(code, 'args');
    // A module reads some of the arguments; there may be others after the named ones.
    for (const [i, name] of declared.args.entries()) expect(given[i + 1] ?? name).toBe(name);
  });

  test.each(functions)('$file names its parameters as the script of a server without functions does', ({ text }) => {
    const parameters = [...text.matchAll(/^local function (?:short|run)\((.*)\)$/gm)].map(([, names]) => names!);
    expect(parameters.filter((names) => !/^(?:keys|_), args$|^keys$/.test(names))).toEqual([]);
  });

  test.each(functions)('$file registers a function with flags and the name of the file', ({ name, text }) => {
    const [, registered, few] =
      /^register\('(\w+)', \{(?:| 'allow-oom' | 'no-writes' )\}, run(?:, (\d+), short)?\)\n$/m.exec(text)!;
    expect(registered).toBe(name.replaceAll('-', '_'));
    if (few !== undefined) expect(Number(few)).toBe(readHeader(name, text).keys[0]!.length);
  });

  test.each(functions)('$file states its reply, why it is atomic, and what a crash leaves behind', ({ text }) => {
    const header = /^(?:--.*\n)+/.exec(text)![0];
    expect(header).toContain('-- Returns');
    expect(header).toMatch(/Atomic|nothing needs to be atomic|nothing\n-- needs to be atomic|One write|ZSCAN/);
    expect(header).toMatch(/crash|Writes nothing/);
  });
});

describe('a Lua module', () => {
  const nameOf = (file: string) => file.replace(/(?:^|-)(\w)/g, (_match, letter: string) => letter.toUpperCase());

  test('has a unique name', () => {
    const names = modules.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
  });

  test.each(modules)('$file defines only members of its table', ({ name, text }) => {
    const owners = [...text.matchAll(/^function (\w+)\./gm)].map(([, owner]) => owner);
    expect([...new Set(owners)]).toEqual([nameOf(name)]);
  });

  test.each(modules)('$file keeps no state between calls', ({ text }) => {
    const tables = [...text.matchAll(/^local ([a-z]\w*) = \{\}/gm)].map(([, table]) => table);
    expect(tables).toEqual([]);
  });

  test('does not name other layouts if it belongs to the core', () => {
    const ofCore = files.filter(({ file }) => file.startsWith('lib'));
    expect(ofCore.filter(({ text }) => /redisson/i.test(text)).map(({ name }) => name)).toEqual([]);
  });
});
