import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Command } from 'ioredis';
import { hashSlot } from '../../lib/redis/cluster/hash-slot.js';

const slotInIoredis = (key: string) => new Command('get', [key]).getSlot();

describe('the hash slot of a key', () => {
  it('matches the check value of CRC16/XMODEM', () => {
    // The check value of CRC16/XMODEM.
    expect(hashSlot('123456789')).toBe(0x31c3 % 16384);
  });

  it.each(['{orders}:ready', 'a{b}c{d}', '{}orders', 'orders{}', '{{orders}}', '}a{', 'größer {ö}', ''])(
    'matches the result of ioredis: %j',
    (key) => expect(hashSlot(key)).toBe(slotInIoredis(key)),
  );

  it('matches the result of ioredis for any key, unless its first braces are empty', () => {
    const parts = fc.array(fc.oneof(fc.constantFrom('{', '}'), fc.string({ unit: 'grapheme', maxLength: 3 })));
    const keys = parts.map((words) => words.join('')).filter((key) => !/^[^{]*\{\}/.test(key));
    fc.assert(fc.property(keys, (key) => expect(hashSlot(key)).toBe(slotInIoredis(key))));
  });

  // The slots that CLUSTER KEYSLOT returns; ioredis uses other braces.
  it.each([
    ['{}}', 14790],
    ['{}{a}', 13650],
    ['{}}x}', 15897],
  ])('covers the whole key if its first braces are empty: %j', (key, slot) => {
    expect(hashSlot(key)).toBe(slot);
  });
});
