import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MessageIdGenerator } from '../../lib/message/message-id.js';
import { partitionOf } from '../../lib/message/partition-of.js';
import { StickyIds } from '../../lib/partitions/partition-router.js';
import { hashSlot, SLOTS } from '../../lib/redis/cluster/hash-slot.js';
import { partitionTag, queueOfTag } from '../../lib/store/native/native-keys.js';
import { setImmediate } from '../../lib/timing/event-loop.js';

const QUEUE_NAMES = fc.stringMatching(/^[A-Za-z0-9_.:-]{1,128}$/);
const IDS = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
const ALL_READY = { reachOf: () => 'ready' as const };
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
let now = 0;
/** Generates ids that are spread over that many partitions. */
function newIds(partitions: number) {
  const generator = new MessageIdGenerator();
  const spread = new StickyIds(partitions, 'each stay', () => now);
  return {
    next: (reaches: Parameters<StickyIds['ending']>[0]) => generator.next(spread.ending(reaches)),
    partitionOf: (id: string) => spread.partitionOf(id),
  };
}

describe('new ids of a queue with a rate', () => {
  it('use each partition in turn, so that all of them use their shares', () => {
    const spread = new StickyIds(4, 'each id');
    const places = Array.from({ length: 8 }, () => partitionOf(spread.ending(ALL_READY), 4));
    expect(new Set(places.slice(0, 4)).size).toBe(4);
    expect(places.slice(4)).toEqual(places.slice(0, 4));
  });
});

const POWERS_OF_TWO = [2, 4, 8, 16, 32, 64, 128, 256];

describe('the partition of a message', () => {
  it('is always the same', () => {
    expect(['order:1', 'order:2', 'größe', '-0A_{x}'].map((id) => partitionOf(id, 8))).toEqual([5, 1, 0, 1]);
  });

  it('is a number below the number of partitions', () => {
    fc.assert(
      fc.property(IDS, fc.integer({ min: 1, max: 256 }), (id, count) => {
        const partition = partitionOf(id, count);
        expect(Number.isInteger(partition) && partition >= 0 && partition < count).toBe(true);
      }),
    );
  });

  it('stays the same or becomes an added one when partitions are added', () => {
    fc.assert(
      fc.property(IDS, fc.integer({ min: 1, max: 255 }), fc.integer({ min: 1, max: 256 }), (id, count, more) => {
        const [before, after] = [partitionOf(id, count), partitionOf(id, Math.min(256, count + more))];
        expect(after === before || after >= count).toBe(true);
      }),
    );
  });

  it.each([2, 8, 256])('is each of %i partitions about equally often', (count) => {
    const expected = 200;
    const found = new Array<number>(count).fill(0);
    for (let i = 0; i < expected * count; i++) found[partitionOf(`order:${i}`, count)]!++;
    // Six standard deviations.
    expect(Math.max(...found.map((often) => Math.abs(often - expected)))).toBeLessThan(6 * Math.sqrt(expected));
  });

  it('depends only on the part of the id between braces, if there is one', () => {
    const tag = fc.stringMatching(/^[^{}]{1,20}$/);
    const around = fc.stringMatching(/^[^{}]{0,20}$/);
    fc.assert(
      fc.property(tag, around, around, (inside, before, after) => {
        expect(partitionOf(`${before}{${inside}}${after}`, 64)).toBe(partitionOf(inside, 64));
      }),
    );
    const partitions = ['a{}', 'b{}', 'c{}', 'd{}', 'a{', 'b{', 'c}x{', 'd}x{'].map((id) => partitionOf(id, 256));
    expect(new Set(partitions).size).toBeGreaterThan(5);
  });
});

describe('generated ids of a queue with partitions', () => {
  it('belong to one partition for 8 ms, and then to the next one', async () => {
    const ids = newIds(8);
    const places: number[] = [];
    for (let i = 0; i < 9 * 8; i++, now++) {
      places.push(partitionOf(ids.next(ALL_READY), 8));
      await nextTurn();
    }
    const stays = Array.from({ length: 9 }, (_, stay) => new Set(places.slice(stay * 8, stay * 8 + 8)));
    expect(stays.map((stay) => stay.size)).toEqual(stays.map(() => 1));
    expect(new Set(places).size).toBe(8);
    expect(stays[8]).toEqual(stays[0]);
  });

  it('belong to the next partition in the turn after the 32nd', async () => {
    const ids = newIds(8);
    const turns: number[] = [];
    for (const count of [31, 1, 100, 1, 1]) {
      const places = Array.from({ length: count }, () => partitionOf(ids.next(ALL_READY), 8));
      expect(new Set(places).size).toBe(1);
      turns.push(places[0]!);
      await nextTurn();
    }
    const [first, second, third, fourth, fifth] = turns;
    expect([second, fifth]).toEqual([first, fourth]);
    expect(new Set([first, third, fourth]).size).toBe(3);
  });

  it('are looked up in the partition that their hash gives, like any other ids', () => {
    const ids = newIds(8);
    const generated = ids.next(ALL_READY);
    const end = generated.slice(generated.indexOf('{'));
    for (const id of [
      generated,
      `other${end}`,
      end,
      `a{b}${end}`,
      `${end}{b}`,
      `{${end}`,
      end.slice(1),
      'plain',
      '}{',
    ]) {
      expect(ids.partitionOf(id)).toBe(partitionOf(id, 8));
    }
  });

  it('sort in creation order, whatever their partitions', async () => {
    const ids = newIds(32);
    const made: string[] = [];
    for (let turn = 0; turn < 40; turn++) {
      made.push(ids.next(ALL_READY), ids.next(ALL_READY));
      now += 8;
      await nextTurn();
    }
    expect([...made].sort()).toEqual(made);
    expect(new Set(made).size).toBe(made.length);
  });
});

describe('generated ids of a queue whose partitions do not all respond', () => {
  it.each(['silent', 'opening', 'lost'] as const)(
    'are spread evenly over those that do, if the others are %s',
    async (reach) => {
      const ids = newIds(8);
      const out = [1, 2, 5];
      const reaches = { reachOf: (partition: number) => (out.includes(partition) ? reach : 'ready') };
      const found = new Array<number>(8).fill(0);
      for (let turn = 0; turn < 8 * 8 * 5; turn++) {
        const places = new Set([ids.next(reaches), ids.next(reaches)].map((id) => partitionOf(id, 8)));
        expect(places.size).toBe(1);
        for (const place of places) found[place]!++;
        now += 8;
        await nextTurn();
      }
      const living = found.filter((_, partition) => !out.includes(partition));
      expect(living.reduce((sum, often) => sum + often)).toBe(320);
      // At worst, twice its share of the messages of those that are out.
      expect(Math.max(...living)).toBeLessThanOrEqual(40 + 2 * ((3 * 40) / 5));
    },
  );

  it('are spread over all of them if none responds', async () => {
    const ids = newIds(8);
    const found = new Set<number>();
    for (let turn = 0; turn < 8; turn++) {
      found.add(partitionOf(ids.next({ reachOf: () => 'lost' }), 8));
      now += 8;
      await nextTurn();
    }
    expect(found.size).toBe(8);
  });
});

describe("the hash slots of a queue's partitions", () => {
  it('are all different and evenly spaced', () => {
    fc.assert(
      fc.property(QUEUE_NAMES, fc.constantFrom(...POWERS_OF_TWO), (queue, count) => {
        const slots = Array.from({ length: count }, (_, partition) => hashSlot(partitionTag(queue, partition)));
        const sorted = slots.sort((a, b) => a - b);
        const gaps = sorted.map((slot, i) => (sorted[(i + 1) % count]! - slot + SLOTS) % SLOTS);
        expect(new Set(gaps)).toEqual(new Set([SLOTS / count]));
      }),
      { numRuns: 50 },
    );
  });

  const SHARDS = [3, 6, 12, 16, 48, 64];
  it.each(POWERS_OF_TWO.flatMap((count) => SHARDS.filter((shards) => shards <= count).map((s) => [count, s] as const)))(
    'are spread over shards as evenly as possible: %i partitions, %i shards',
    (count, shards) => {
      for (const queue of ['orders', 'a', 'x'.repeat(128), 'tenant:7_-.']) {
        const found = new Array<number>(shards).fill(0);
        for (let partition = 0; partition < count; partition++) {
          found[Math.floor((hashSlot(partitionTag(queue, partition)) * shards) / SLOTS)]!++;
        }
        expect(Math.max(...found)).toBeLessThanOrEqual(Math.ceil(count / shards));
      }
    },
  );
});

describe('the hash tag of a partition', () => {
  it("is the queue's name for the first partition, and a name that no queue can have for the others", () => {
    fc.assert(
      fc.property(QUEUE_NAMES, fc.integer({ min: 1, max: 255 }), (queue, partition) => {
        expect(partitionTag(queue, 0)).toBe(queue);
        const tag = partitionTag(queue, partition);
        expect(tag).toMatch(/^[A-Za-z0-9_.:-]+#\d+\.[A-Za-z0-9]{3}$/);
        expect(queueOfTag(tag)).toBe(queue);
      }),
    );
    expect(queueOfTag('orders')).toBe('orders');
  });

  it('is always the same', () => {
    expect([1, 2, 3, 255].map((partition) => partitionTag('orders', partition))).toEqual([
      'orders#1.5D4',
      'orders#2.4zK',
      'orders#3.AAM',
      'orders#255.0Qa',
    ]);
  });

  it('is found for every hash slot that a partition can have', () => {
    const queues = Array.from({ length: 64 * 4 }, (_, i) => `queue-${i}`);
    const tags = queues.flatMap((queue) => Array.from({ length: 255 }, (_, i) => partitionTag(queue, i + 1)));
    expect(tags.filter((tag) => tag.endsWith('undefined'))).toEqual([]);
  });
});
