import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { draw } from './draw.js';
import { mutantsOf, mutatedFiles } from './mutation/mutant.js';

const LINES = Array.from({ length: 50 }, (_, i) => `f${i}(a < b, ${i});`);
let project: string;

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'drawn-'));
  mkdirSync(join(project, 'lib'));
});
afterAll(() => rmSync(project, { recursive: true }));

function drawOf(lines: readonly string[], seed: string, mayRun = (kind: string) => kind !== ''): string[] {
  writeFileSync(join(project, 'lib/a.ts'), lines.join('\n'));
  const mutants = mutatedFiles(project).flatMap((file) => mutantsOf(project, file));
  return [...draw(mutants, seed, ({ kind }) => mayRun(kind))].map(({ name, lineText }) => `${name} ${lineText}`);
}

test('the same seed draws the same mutants in the same order each time, and another seed draws others', () => {
  const drawn = drawOf(LINES, '1');
  expect(drawOf(LINES, '1')).toEqual(drawn);
  expect(drawOf(LINES, '2').slice(0, 10).map(withoutSeed)).not.toEqual(drawn.slice(0, 10).map(withoutSeed));
});

test('each line is drawn once, however many of its parts can be mutated', () => {
  const drawn = drawOf(LINES, '1');
  expect(new Set(drawn.map((name) => /:(\d+) /.exec(name)![1])).size).toBe(LINES.length);
  expect(drawn).toHaveLength(LINES.length);
});

test('a new line changes neither the order nor the mutations of the others', () => {
  const after = drawOf(['await g();', ...LINES], '1').filter((name) => !name.includes('g()'));
  expect(after.map(withoutLine)).toEqual(drawOf(LINES, '1').map(withoutLine));
});

test('only mutants that may run are drawn', () => {
  expect(drawOf(LINES, '1', () => false)).toEqual([]);
  expect(drawOf(LINES, '1', (kind) => kind === 'boundary-moved')).toHaveLength(LINES.length);
});

const withoutSeed = (name: string) => name.slice(name.indexOf('/'));
const withoutLine = (name: string) => name.replace(/:\d+/, '');
