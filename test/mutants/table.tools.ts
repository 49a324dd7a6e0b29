import { expect, test } from '@jest/globals';
import type { Drawn } from './draw.js';
import { rateOf, tableOf, type Verdict } from './table.js';

const verdict = (file: string, outcome: Verdict['outcome']): Verdict => ({ mutant: { file } as Drawn, outcome });
const killed = (stage: 'related' | 'test' | 'other') => ({ stage, by: 'a suite', why: 'a test' });

const VERDICTS = [
  verdict('lib/producer/offers.ts', killed('related')),
  verdict('lib/producer/offers.ts', { survived: ['related'] }),
  verdict('lib/store/native/lua/modules/take.lua', killed('test')),
  verdict('lib/store/native/native-store.ts', killed('other')),
  verdict('lib/store/memory/memory-store.ts', { equivalent: 'because' }),
];

test('the table counts, for each folder, the mutants detected by each check', () => {
  const rows = tableOf(VERDICTS)
    .split('\n')
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  expect(rows.slice(2)).toEqual([
    ['producer', '2', '1', '', '', '', '1', ''],
    ['store/memory', '1', '', '', '', '', '', '1'],
    ['store/native', '1', '', '', '', '1', '', ''],
    ['store/native/lua', '1', '', '', '1', '', '', ''],
    ['all', '5', '1', '', '1', '1', '1', '1'],
  ]);
});

test('the table excludes equivalent mutants from the rate', () => {
  expect(rateOf(VERDICTS, ['related', 'simulation', 'test'])).toBe('2 of 4 (50 %)');
  expect(rateOf(VERDICTS, ['related', 'simulation', 'test', 'other'])).toBe('3 of 4 (75 %)');
  expect(rateOf([], ['related'])).toBe('0 of 0 (0 %)');
});
