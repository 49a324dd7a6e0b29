import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Command } from 'ioredis';
import { hashSlot } from '../../lib/redis/cluster/hash-slot.js';

const slotInIoredis = (key: string) => new Command('get', [key]).getSlot();

describe('the slot of a key', () => {
  it('is the one of the specification', () => {
    // The check value of CRC16/XMODEM.
    expect(hashSlot('123456789')).toBe(0x31c3 % 16384);
  });

  it.each(['{orders}:ready', 'a{b}c{d}', '{}orders', 'orders{}', '{{orders}}', '}a{', 'größer {ö}', ''])(
    'of %j is the one that ioredis computes',
    (key) => expect(hashSlot(key)).toBe(slotInIoredis(key)),
  );

  it('of any key is the one that ioredis computes, unless its first braces are empty', () => {
    const parts = fc.array(fc.oneof(fc.constantFrom('{', '}'), fc.string({ unit: 'grapheme', maxLength: 3 })));
    const keys = parts.map((words) => words.join('')).filter((key) => !/^[^{]*\{\}/.test(key));
    fc.assert(fc.property(keys, (key) => expect(hashSlot(key)).toBe(slotInIoredis(key))));
  });

  // As CLUSTER KEYSLOT says; ioredis takes other braces.
  it.each([
    ['{}}', 14790],
    ['{}{a}', 13650],
    ['{}}x}', 15897],
  ])('of %j is that of the whole key, because its first braces are empty', (key, slot) => {
    expect(hashSlot(key)).toBe(slot);
  });
});
