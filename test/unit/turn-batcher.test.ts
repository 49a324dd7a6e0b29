import { describe, expect, it } from '@jest/globals';
import { inBatches, TurnBatcher } from '../../lib/turn-batcher.js';

function batcher(send: (batch: readonly number[]) => Promise<number[]>) {
  return new TurnBatcher<number, number>({ send, maxWeight: 100, weigh: (item) => item });
}

describe('TurnBatcher', () => {
  it('sends what is added in one turn in one call, and answers each', async () => {
    const batches: (readonly number[])[] = [];
    const doubling = batcher((batch) => {
      batches.push(batch);
      return Promise.resolve(batch.map((item) => item * 2));
    });
    expect(await Promise.all([1, 2, 3].map((item) => doubling.add(item)))).toEqual([2, 4, 6]);
    expect(await doubling.add(4)).toBe(8);
    expect(batches).toEqual([[1, 2, 3], [4]]);
  });

  it('tells each item of a batch that its call failed, and goes on with the next', async () => {
    let fail = true;
    const flaky = batcher((batch) => (fail ? Promise.reject(new Error('down')) : Promise.resolve([...batch])));
    const results = await Promise.allSettled([flaky.add(1), flaky.add(2)]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fail = false;
    expect(await flaky.add(3)).toBe(3);
  });
});

describe('batches', () => {
  const cut = (items: number[], maxWeight: number) => [...inBatches(items, maxWeight, (item) => item)];

  it('hold no more than their weight, in order', () => {
    expect(cut([4, 4, 4, 1, 9], 9)).toEqual([[4, 4], [4, 1], [9]]);
  });

  it('hold an item that is too heavy alone', () => {
    expect(cut([1, 50, 1], 9)).toEqual([[1], [50], [1]]);
  });

  it('hold a thousand items at most, and none is lost', () => {
    const items = Array.from({ length: 2500 }, () => 0);
    expect(cut(items, 9).map(({ length }) => length)).toEqual([1000, 1000, 500]);
  });

  it('of nothing are none', () => {
    expect(cut([], 9)).toEqual([]);
  });
});
