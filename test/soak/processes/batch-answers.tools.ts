import { describe, expect, test } from '@jest/globals';
import { readBatchResults } from '../../../lib/batches/batch-results.js';
import { again } from '../../../lib/index.js';
import { answerOf } from './batch-answers.js';

const TURNS = [0, 1, 2] as const;

describe('the result of a batch handler', () => {
  const read = async (works: readonly unknown[], turn: number) => {
    const ids = works.map((_work, at) => `m${at}`);
    const results = await readBatchResults(await answerOf(works, { ids, turn }), works.length);
    return results.map((result) => ('error' in result ? 'failed' : 'handled'));
  };

  test.each(TURNS)('reports the different outcomes of its messages: turn %i', async (turn) => {
    const works = [Promise.resolve(), Promise.reject(new Error('no')), Promise.resolve(again(100)), Promise.resolve()];
    expect(await read(works, turn)).toEqual(['handled', 'failed', 'handled', 'handled']);
  });

  test.each(TURNS)('reports that all of its messages are handled: turn %i', async (turn) => {
    expect(await read([Promise.resolve(), Promise.resolve()], turn)).toEqual(['handled', 'handled']);
  });

  test('has rows that look like failures, and leaves out rows unless one result is again()', async () => {
    const works = [Promise.resolve(), Promise.resolve()];
    const more = [...works, Promise.resolve(again(100))];
    expect(await answerOf(works, { ids: ['a', 'b'], turn: 2 })).toEqual([
      { id: 'b', status: 'rejected', reason: 'declined by the bank' },
    ]);
    expect(await answerOf(more, { ids: ['a', 'b', 'c'], turn: 2 })).toEqual([
      { id: 'a', status: 'rejected' },
      { id: 'b', status: 'rejected', reason: 'declined by the bank' },
      again(100),
    ]);
  });
});
