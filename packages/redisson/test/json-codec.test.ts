import { describe, expect, it } from '@jest/globals';
import { json, JsonNumber } from '../src/index.js';

const codec = json();
const again = (text: string, by = codec) => by.encode(by.decode(Buffer.from(text))).toString();

describe('the json codec', () => {
  it.each([
    '{"price":12.50,"weight":0.0,"great":1.0E21,"list":[5.0,-0,1234567890.1234567890]}',
    '{"b":1,"a":{"10":1,"2":0.0,"x":1}}',
    '{"a":[{"b":1.10}],"__proto__":{"z":1.0,"a":2}}',
    '[12345678901234567890,0.10]',
  ])('keeps the bytes of a payload that is offered again: %s', (text) => {
    expect(again(text)).toBe(text);
    expect(again(text, json({ numbers: 'exact' }))).toBe(text);
  });

  it('writes keys in alphabetical order, as Jackson writes the fields of a class', () => {
    expect(codec.encode({ b: 1, a: { d: 1, c: [{ z: 1, Z: 2 }] } }).toString()).toBe(
      '{"a":{"c":[{"Z":2,"z":1}],"d":1},"b":1}',
    );
  });

  it('writes changed values, and puts new keys of an unsorted object last', () => {
    const payload = codec.decode(Buffer.from('{"price":12.50,"list":[5.0]}')) as { price: number; list: number[] };
    payload.price = 13;
    payload.list.push(6);
    expect(codec.encode({ ...payload }).toString()).toBe('{"list":[5.0,6],"price":13}');
    expect(codec.encode(Object.assign(payload, { added: 1 })).toString()).toBe('{"price":13,"list":[5.0,6],"added":1}');
  });

  it('keeps the original form of numbers when it copies a payload because of a BigInt', () => {
    const payload = codec.decode(Buffer.from('{"price":12.50,"id":9007199254740993}'));
    expect(codec.encode({ payload, other: 5n }).toString()).toBe(
      '{"other":5,"payload":{"price":12.50,"id":9007199254740993}}',
    );
  });

  it('reads numbers as the nearest doubles, or as exact values that survive copying', () => {
    const text = '{"a":12.50,"b":12.5,"c":0.0,"d":9007199254740993,"e":5}';
    expect(codec.decode(Buffer.from(text))).toEqual({ a: 12.5, b: 12.5, c: 0, d: 9007199254740993n, e: 5 });
    const exact = json({ numbers: 'exact' });
    const payload = exact.decode(Buffer.from(text)) as object;
    expect(payload).toStrictEqual({
      a: new JsonNumber('12.50'),
      b: 12.5,
      c: new JsonNumber('0.0'),
      d: 9007199254740993n,
      e: 5,
    });
    expect(exact.encode({ ...payload }).toString()).toBe(text);
    expect(exact.decode(Buffer.from('12.50'))).toEqual(new JsonNumber('12.50'));
  });

  it('writes emoji unescaped for Jackson 3, and escaped for Jackson 2', () => {
    expect(json({ jackson: 3 }).encode({ a: '😀\u001f' }).toString()).toBe('{"a":"😀\\u001F"}');
    expect(codec.encode({ a: '😀\u001f' }).toString()).toBe('{"a":"\\uD83D\\uDE00\\u001F"}');
  });

  it.each<[options: object, problem: RegExp]>([
    [{ numbers: 'some' }, /json\(\): numbers: must be 'nearest' or 'exact'/],
    [{ jackson: 4 }, /json\(\): jackson: must be 2 or 3/],
  ])('validates its options when it is created: %p', (options, problem) => {
    expect(() => json(options)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringMatching(problem) }),
    );
  });
});

describe('a JsonNumber', () => {
  it('counts as the nearest number in arithmetic, and keeps its original text', () => {
    const price = new JsonNumber('12.50');
    expect([Number(price) * 2, String(price), JSON.stringify({ price })]).toEqual([25, '12.50', '{"price":12.5}']);
  });

  it.each(['', '1.', '.5', '01', '+1', 'NaN', '1e', '0x1', '1 ', 5])(
    'refuses %p, which is not valid in JSON',
    (text) => {
      expect(() => new JsonNumber(text as string)).toThrow(expect.objectContaining({ code: 'INVALID_PAYLOAD' }));
    },
  );
});
