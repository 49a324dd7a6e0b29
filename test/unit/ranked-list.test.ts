import { describe, expect, it } from '@jest/globals';
import { RankedList, type Ranked } from '../../lib/store/memory/ranked-list.js';

const item = (rank: number, name = ''): Ranked => ({ rank, name });

/** Pseudo-random numbers below `limit`, the same in every run. */
function* numbers(limit: number): Generator<number, never> {
  for (let seed = 1; ;) {
    seed = (seed * 48271) % 2147483647;
    yield seed % limit;
  }
}

function listOf(items: readonly Ranked[]): RankedList<Ranked> {
  const list = new RankedList();
  items.forEach((each) => list.add(each));
  return list;
}

describe('RankedList', () => {
  it('is initially empty', () => {
    const list = new RankedList();
    expect(list.size).toBe(0);
    expect(list.first()).toBeUndefined();
    expect(list.take(10)).toEqual([]);
    expect(list.remove(item(1))).toBe(false);
  });

  it('orders by rank, then by name', () => {
    const items = [item(2, 'a'), item(1, 'b'), item(1, 'a'), item(-5), item(1, 'B'), item(1.5)];
    const list = listOf(items);
    expect(list.take(10)).toEqual([item(-5), item(1, 'B'), item(1, 'a'), item(1, 'b'), item(1.5), item(2, 'a')]);
    expect(list.first()).toEqual(item(-5));
  });

  it('removes only the item itself, not an equal one', () => {
    const inside = item(1, 'a');
    const list = listOf([inside, item(2)]);
    expect(list.remove(item(1, 'a'))).toBe(false);
    expect(list.remove(item(3))).toBe(false);
    expect(list.remove(inside)).toBe(true);
    expect(list.remove(inside)).toBe(false);
    expect(list.size).toBe(1);
  });

  it('returns the items after a position, whether or not the position holds an item', () => {
    const list = listOf(Array.from({ length: 5000 }, (_, rank) => item(rank * 2)));
    const ranksBehind = (rank: number) => list.take(3, item(rank)).map((each) => each.rank);
    expect(ranksBehind(-1)).toEqual([0, 2, 4]);
    for (const rank of [0, 1022, 1024, 2046, 2048, 6000]) {
      expect(ranksBehind(rank)).toEqual([rank + 2, rank + 4, rank + 6]);
      expect(ranksBehind(rank + 1)).toEqual([rank + 2, rank + 4, rank + 6]);
    }
    expect(ranksBehind(9994)).toEqual([9996, 9998]);
    expect(ranksBehind(9998)).toEqual([]);
    expect(ranksBehind(Infinity)).toEqual([]);
  });

  it.each([
    ['rising', (index: number) => index],
    ['falling', (index: number) => -index],
    ['equal', () => 0],
  ])('keeps its order when thousands are added with %s ranks and removed from the front', (_, rankOf) => {
    const items = Array.from({ length: 5000 }, (__, index) => item(rankOf(index), String(index).padStart(5, '0')));
    const list = listOf(items);
    const sorted = [...items].sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1));
    expect(list.take(items.length)).toEqual(sorted);
    for (const each of sorted) {
      expect(list.first()).toBe(each);
      list.remove(each);
    }
    expect(list.size).toBe(0);
  });

  it('matches a sorted array through ten thousand random steps', () => {
    const random = numbers(1000);
    const list = new RankedList();
    let model: Ranked[] = [];
    for (let step = 0; step < 10_000; step++) {
      if (random.next().value < 600 || model.length === 0) {
        const added = item(random.next().value, String(step));
        list.add(added);
        model.push(added);
      } else {
        const removed = model[random.next().value % model.length] ?? item(0);
        expect(list.remove(removed)).toBe(true);
        model = model.filter((each) => each !== removed);
      }
      expect(list.size).toBe(model.length);
    }
    model.sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1));
    expect(list.take(Infinity)).toEqual(model);
  });
});
