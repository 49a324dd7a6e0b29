import { describe, expect, it } from '@jest/globals';
import { inBatches, TurnBatcher } from '../../lib/timing/event-loop.js';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('TurnBatcher', () => {
  it('sends the items of one turn in one call, and later items in another', async () => {
    const batches: (readonly number[])[] = [];
    const batcher = new TurnBatcher<number>({
      send: (batch) => batches.push(batch),
      maxItems: 10,
      maxWeight: 100,
      weigh: (item) => item,
    });
    for (const item of [1, 2, 3]) batcher.add(item);
    await Promise.resolve().then(() => batcher.add(4));
    expect(batches).toEqual([]);
    await nextTurn();
    batcher.add(5);
    await nextTurn();
    await nextTurn();
    expect(batches).toEqual([[1, 2, 3, 4], [5]]);
  });

  it('sends items before the end of the turn while idle, in one call for all that the same code adds', async () => {
    const batches: (readonly number[])[] = [];
    let idle = true;
    const batcher = new TurnBatcher<number>({
      send: (batch) => {
        batches.push(batch);
        idle = false;
      },
      isIdle: () => idle,
      maxItems: 10,
      maxWeight: 100,
      weigh: (item) => item,
    });
    for (const item of [1, 2]) batcher.add(item);
    expect(batches).toEqual([]);
    await Promise.resolve();
    expect(batches).toEqual([[1, 2]]);
    batcher.add(3);
    await Promise.resolve();
    batcher.add(4);
    expect(batches).toHaveLength(1);
    await nextTurn();
    expect(batches).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });
});

describe('a TurnBatcher with many items', () => {
  const batchesOf = async (count: number, isIdle: boolean) => {
    const batches: (readonly number[])[] = [];
    const batcher = new TurnBatcher<number>({
      send: (batch) => batches.push(batch),
      isIdle: () => isIdle,
      maxItems: 40,
      maxWeight: 1000,
      weigh: () => 1,
    });
    for (let i = 0; i < count; i++) batcher.add(i);
    await nextTurn();
    return batches.map(({ length }) => length);
  };

  it('sends them in two halves while idle, or in more batches if the item limit requires it', async () => {
    expect(await batchesOf(32, true)).toEqual([16, 16]);
    expect(await batchesOf(33, true)).toEqual([17, 16]);
    expect(await batchesOf(100, true)).toEqual([40, 40, 20]);
  });

  it('sends a small number of items, or any added while calls are in progress, in one batch', async () => {
    expect(await batchesOf(31, true)).toEqual([31]);
    expect(await batchesOf(33, false)).toEqual([33]);
  });
});

describe('batches', () => {
  const cut = (items: number[], maxWeight: number) => [
    ...inBatches(items, { maxItems: 1000, maxWeight, weigh: (item) => item }),
  ];

  it('stay within the weight limit and in order', () => {
    expect(cut([4, 4, 4, 1, 9], 9)).toEqual([[4, 4], [4, 1], [9]]);
  });

  it('may hold a single item that exceeds the weight limit', () => {
    expect(cut([1, 50, 1], 9)).toEqual([[1], [50], [1]]);
  });

  it('stay within the item limit and lose no items', () => {
    const items = Array.from({ length: 2500 }, () => 0);
    expect(cut(items, 9).map(({ length }) => length)).toEqual([1000, 1000, 500]);
  });

  it('do not exist for an empty list', () => {
    expect(cut([], 9)).toEqual([]);
  });
});
