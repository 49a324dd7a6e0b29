import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import luaparse from 'luaparse';
import ts from 'typescript';
import { draw } from '../draw.js';
import { mutationsOfLua } from './lua-mutations.js';
import { type Mutant, mutantsOf, mutatedFiles } from './mutant.js';
import { mutated, type Mutation } from './mutation.js';
import { mutationsOfTypeScript } from './typescript-mutations.js';

const PROJECT = join(import.meta.dirname, '../../..');

/** The mutated texts of each kind. */
function textsByKind(text: string, mutations: readonly Mutation[]): Record<string, string[]> {
  const texts: Record<string, string[]> = {};
  for (const mutation of mutations) (texts[mutation.kind] ??= []).push(mutated(text, mutation));
  return texts;
}

test.each<[string, string, Record<string, string[]>]>([
  [
    'a boundary and a condition',
    'if (a < b) f();',
    {
      'condition-negated': ['if (!(a < b)) f();'],
      'boundary-moved': ['if (a <= b) f();'],
      'statement-removed': ['if (a < b) ;'],
    },
  ],
  ['a condition that is a negation', 'const x = !a ? b : c;', { 'condition-negated': ['const x = a ? b : c;'] }],
  [
    'an early return',
    'function f() { if (a) return; }',
    { 'condition-negated': ['function f() { if (!(a)) return; }'], 'exit-removed': ['function f() { ; }'] },
  ],
  [
    'an awaited call',
    'await f(a, b);',
    {
      'statement-removed': [';'],
      'not-awaited': ['void (f(a, b));'],
      'arguments-swapped': ['await f(b, a);'],
    },
  ],
  [
    'the greater of two numbers, whose order makes no difference',
    'const x = Math.max(a, b);',
    { 'min-max': ['const x = Math.min(a, b);'] },
  ],
  [
    'constants and operators',
    'const x = (a && true) ?? b + 1 === 40;',
    {
      'default-taken': ['const x = (b + 1 === 40);'],
      'and-or': ['const x = (a || true) ?? b + 1 === 40;'],
      'constant-changed': [
        'const x = (a && false) ?? b + 1 === 40;',
        'const x = (a && true) ?? b + 2 === 40;',
        'const x = (a && true) ?? b + 1 === 80;',
      ],
      arithmetic: ['const x = (a && true) ?? b - 1 === 40;'],
      'equality-negated': ['const x = (a && true) ?? b + 1 !== 40;'],
    },
  ],
  ['properties', 'const x = { a, ...b };', { 'property-removed': ['const x = {  ...b };', 'const x = { a,  };'] }],
  ['nothing in types', 'type T = { a: 1 } | (true & 2); interface I { a: 1 }', {}],
])('TypeScript has mutations for %s', (_what, text, expected) => {
  expect(textsByKind(text, mutationsOfTypeScript(text))).toEqual(expected);
});

test.each<[string, string, Record<string, string[]>]>([
  [
    'a boundary and a condition',
    'if a < b then f() end',
    {
      'condition-negated': ['if not (a < b) then f() end'],
      'boundary-moved': ['if a <= b then f() end'],
      'statement-removed': ['if a < b then  end'],
    },
  ],
  [
    'an early return',
    'local function f() if not a then return 1 end end',
    {
      'condition-negated': ['local function f() if a then return 1 end end'],
      'exit-removed': ['local function f()  end'],
      'constant-changed': ['local function f() if not a then return 2 end end'],
    },
  ],
  [
    'a Redis call, whose command stays first',
    "redis.call('ZADD', key, score)",
    { 'statement-removed': [''], 'arguments-swapped': ["redis.call('ZADD', score, key)"] },
  ],
])('Lua has mutations for %s', (_what, text, expected) => {
  expect(textsByKind(text, mutationsOfLua(text))).toEqual(expected);
});

describe('mutants of the library', () => {
  const files = mutatedFiles(PROJECT);
  const mutants = files.flatMap((file) => mutantsOf(PROJECT, file));
  const textOf = ({ file }: Mutant) => readFileSync(join(PROJECT, file), 'utf8');

  test("come from the core's TypeScript and Lua, not from a layout or another entry point", () => {
    expect(files).toEqual(expect.arrayContaining([expect.stringMatching(/lua$/), expect.stringMatching(/ts$/)]));
    expect(files.filter((file) => /redisson|testing|otel/.test(file))).toEqual([]);
  });

  test('have unique names', () => {
    const names = mutants.map(({ place }) => place);
    expect(names).toHaveLength(new Set(names).size);
  });

  test('compile and differ from the original program', () => {
    const sample = [...draw(mutants, '1', () => true)].slice(0, 100);
    for (const mutant of sample) {
      const text = textOf(mutant);
      const change = mutated(text, mutant);
      const compiled = mutant.file.endsWith('.lua') ? compiledLua : compiledTypeScript;
      expect({ mutant, same: compiled(change) === compiled(text) }).toEqual({ mutant, same: false });
    }
  });

  function compiledLua(text: string): string {
    return JSON.stringify(luaparse.parse(text, { luaVersion: '5.1', comments: false }));
  }

  function compiledTypeScript(text: string): string {
    const compilerOptions = { target: ts.ScriptTarget.ES2022, removeComments: true, experimentalDecorators: true };
    const { outputText, diagnostics } = ts.transpileModule(text, { compilerOptions, reportDiagnostics: true });
    expect(diagnostics).toEqual([]);
    return outputText;
  }
});
