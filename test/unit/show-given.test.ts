import { describe, expect, it } from '@jest/globals';
import { assertQueueName } from '../../lib/message/queue-name.js';
import { kindOf, showGiven } from '../../lib/message/show-given.js';
import { ODD_VALUES } from '../support/odd-values.js';

class Settings {}

describe('an invalid value in an error', () => {
  it.each<[unknown, string]>([
    ['100ms', "'100ms'"],
    ['a\nb', "'a\\nb'"],
    [5, '5'],
    [NaN, 'NaN'],
    [5n, 'a BigInt'],
    [true, 'true'],
    [null, 'null'],
    [undefined, 'undefined'],
    [[], 'an empty array'],
    [[1], 'an array'],
    [{}, 'an object'],
    [Object.create(null), 'an object'],
    [new Map(), 'an instance of Map'],
    [new Settings(), 'an instance of Settings'],
    [new Date(), 'a Date'],
    [Promise.resolve(), 'a promise'],
    [() => null, 'a function'],
  ])('%p is shown as %s', (value, shown) => {
    expect(showGiven(value)).toBe(shown);
  });

  it('is not shown if it is a URL, which may contain a password', () => {
    expect(showGiven('redis://:secret@redis.internal')).toBe('a URL');
    expect(() => assertQueueName('redis://:secret@redis.internal')).toThrow(/, not a URL$/);
  });

  it.each(Object.entries(ODD_VALUES))('is shown without running its code: %s', (_, make) => {
    expect(showGiven(make())).toMatch(/^\S/);
  });
});

describe('the kind of a value', () => {
  it.each<[unknown, string]>([
    ['secret', 'text'],
    ['', 'empty text'],
    [1234, 'a number'],
    [NaN, 'NaN'],
    [Symbol('secret'), 'a symbol'],
  ])('does not reveal the value %p', (value, kind) => {
    expect(kindOf(value)).toBe(kind);
  });
});
