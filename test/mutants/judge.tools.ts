import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Judge } from './judge.js';
import { mutantsOf } from './mutation/mutant.js';
import { copyTo, filesOf } from './project-files.js';
import { Suites } from './suites/suites.js';

const PROJECT = join(import.meta.dirname, '../..');
const FILE = 'lib/message/duration.ts';
const SUITE = 'test/unit/duration.test.ts';

let folder: string;
let tree: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'judged-'));
  tree = join(folder, 'tree');
  copyTo(tree, PROJECT, filesOf(PROJECT));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('a suite that runs the mutated line detects the mutant, and the mutated file is restored afterwards', async () => {
  const mutant = mutantsOf(PROJECT, FILE).find(({ lineText }) => lineText.startsWith('if (milliseconds < range.min'))!;
  const record = join(folder, 'suites.jsonl');
  const ran = { suite: SUITE, hasPassed: true, seconds: 1, covered: { [FILE]: [mutant.line] }, digest: '' };
  writeFileSync(record, `${JSON.stringify(ran)}\n`);
  const suites = new Suites(tree, record, []);
  expect(suites.relatedTo(mutant)).toEqual([SUITE]);
  expect(suites.relatedTo({ ...mutant, line: mutant.line + 1 })).toEqual([]);

  const kill = await new Judge(tree, suites).judge(mutant, ['related']);

  expect(kill).toMatchObject({ stage: 'related', by: SUITE });
  expect(readFileSync(join(tree, FILE), 'utf8')).toBe(readFileSync(join(PROJECT, FILE), 'utf8'));
});

test('of the other suites, those that run the mutated line are tried, all if none does, and for Lua those that use Redis', () => {
  const record = join(folder, 'reaching.jsonl');
  const ran = (suite: string, file: string) =>
    `${JSON.stringify({ suite, hasPassed: true, seconds: 1, covered: { [file]: [7] }, digest: '' })}\n`;
  const [clock, cluster] = ['test/unit/clock.test.ts', 'test/e2e/cluster.test.ts'];
  writeFileSync(record, ran(SUITE, FILE) + ran(clock, FILE) + ran(cluster, 'lib/redis/commands/redis-commands.ts'));
  const suites = new Suites(tree, record, [SUITE, clock, cluster]);
  const mutant = mutantsOf(PROJECT, FILE)[0]!;
  expect(suites.thatReach({ ...mutant, line: 7 })).toEqual([SUITE, clock].sort());
  expect(suites.thatReach({ ...mutant, line: 8 })).toEqual([SUITE, clock, cluster].sort());
  expect(suites.thatReach({ ...mutant, file: 'lib/store/native/lua/offer.lua' })).toEqual([cluster]);
});

test('only suites with a given path are tried, in every stage', () => {
  const suites = new Suites(tree, join(folder, 'within.jsonl'), ['test/unit/duration', 'test/faults/tls-']);
  expect(suites.ofTest).toEqual([SUITE]);
  expect(suites.others).toEqual(['test/faults/tls-mismatch.faults.ts']);
});

test('the lines that a suite runs include the line of a mutant behind a comment', async () => {
  const record = join(folder, 'recorded.jsonl');
  const suites = new Suites(tree, record, [SUITE]);

  await suites.record(() => undefined);

  const lines = readFileSync(join(PROJECT, FILE), 'utf8').split('\n');
  const declaration = lines.findIndex((line, i) => line.startsWith('export const') && lines[i - 1]!.endsWith('*/')) + 1;
  expect(declaration).toBeGreaterThan(0);
  expect(suites.relatedTo({ ...mutantsOf(PROJECT, FILE)[0]!, line: declaration })).toEqual([SUITE]);
});

test('the simulation runs in the copy', async () => {
  const judge = new Judge(tree, new Suites(tree, join(folder, 'none.jsonl'), []));
  await expect(judge.check()).resolves.toBeUndefined();
});
