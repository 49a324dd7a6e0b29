import { describe, expect, it } from '@jest/globals';
import { guessCodec, isPlainJson } from '../src/codec/codec-signs.js';

/** Bytes written by Redisson 3.16.8 and 3.20.1, as hex. `S$Order` is a class with a text and a Long. */
const WRITTEN: readonly (readonly [what: string, bytes: string, guess: RegExp])[] = [
  ['MarshallingCodec, a String', '043e0568656c6c6f', /^JBoss Marshalling/],
  ['MarshallingCodec, a Long', '044c0000000000000005', /^JBoss Marshalling/],
  [
    'MarshallingCodec, an object',
    '0404093e0753244f72646572d94f7f3c1ca672c4000000023e02696416003e016e1600163e036f2d314c0000000000000005',
    /^JBoss Marshalling/,
  ],
  ['MarshallingCodec, a list', '0453015a3e0161', /^JBoss Marshalling/],
  ['Kryo5Codec, a String', '0368656c6cef', /^Kryo5: codec 'kryo5'$/],
  ['Kryo5Codec, a Long', '090a', /^Kryo5: codec 'kryo5'$/],
  ['Kryo5Codec, an object', '010053244f726465f26f2db1010a', /^Kryo5 \(of class S\$Order\): codec 'kryo5'/],
  [
    'Kryo5Codec, a list',
    '01006a6176612e7574696c2e41727261794c6973f48203008261',
    /^Kryo5 \(of class java\.util\.ArrayList\)/,
  ],
  ['SerializationCodec, a String', 'aced000574000568656c6c6f', /^Java serialization/],
  ['JsonJacksonCodec, a Long', '5b226a6176612e6c616e672e4c6f6e67222c355d', /codec 'jackson'$/],
  ['JsonJacksonCodec, an object', '7b2240636c617373223a2253244f72646572222c226964223a226f2d31227d', /codec 'jackson'$/],
  ['StringCodec', '68656c6c6f', /codec 'string'$/],
];

describe('the detection of a codec from bytes', () => {
  it.each(WRITTEN)('recognizes %s', (_what, bytes, guess) => {
    expect(guessCodec(Buffer.from(bytes, 'hex'))).toMatch(guess);
  });

  it.each(['{"orderId":"7"}', '["a","b"]', '7', '"a text"', '[]'])('recognizes plain JSON: %s', (text) => {
    expect(guessCodec(Buffer.from(text))).toMatch(/codec 'json'$/);
  });

  it.each([
    ['{"@class":"com.shop.Order"}', 'jackson'],
    ['["java.util.ArrayList",[1]]', 'jackson'],
    ['["[B","AAH/"]', 'jackson'],
  ])('recognizes JSON with classes: %s', (text, codec) => {
    expect(guessCodec(Buffer.from(text))).toMatch(new RegExp(`codec '${codec}'$`));
  });

  it.each([
    ['Protobuf, a string', '0a036f2d31'],
    ['Protobuf, a number', '08960112036f2d31'],
    ['Avro, a record of two strings', '066f2d3106616263'],
    ['Avro, a string', '086f2d3132'],
    ['Fory, a string', '02ff0e1468656c6c6f'],
    ['Fory, an object', '02ff0102030405060708'],
  ])('does not mistake an unknown format for a known codec, least of all Kryo5: %s', (_what, bytes) => {
    expect(guessCodec(Buffer.from(bytes, 'hex'))).toMatch(/^none of the codecs/);
  });

  it.each([
    ['text', '{orderId:"o-1"}'],
    ['text with a class', '{\'@class\':"com.shop.Order",amount:5}'],
    ['text with an annotation', '\'com.shop.Order\'::{orderId:"o-1"}'],
    ['binary', Buffer.from('e00100ea210a', 'hex')],
  ])('recognizes Ion: %s', (_what, bytes) => {
    expect(guessCodec(Buffer.from(bytes as string))).toMatch(/^Ion/);
  });

  it('recognizes Smile', () => expect(guessCodec(Buffer.from(':)\n\x01'))).toMatch(/^Smile/));

  it.each([[''], ['ff00ff'], ['01ff'], ['fe']])(
    'attributes an empty value to the string codec, and unknown bytes to none: "%s"',
    (bytes) => {
      expect(guessCodec(Buffer.from(bytes, 'hex'))).toMatch(bytes === '' ? /codec 'string'$/ : /^none of the codecs/);
    },
  );
});

describe('JSON that both codecs can read', () => {
  it.each<[text: string, isPlain: boolean | undefined]>([
    ['{"@class":"com.shop.Order","id":"o-1"}', false],
    ['["java.lang.Long",5]', false],
    ['["java.util.ArrayList",[1]]', false],
    ['["[B","AAH/"]', false],
    ['["[Lcom.shop.Item;",[]]', false],
    ['{"amount":["java.lang.Long",5]}', false],
    ['{"id":"o-1"}', true],
    ['{"note":"[\\"java.lang.Long\\",5]"}', true],
    ['{"note":"{\\"@class\\":1}"}', true],
    ['{"id":"o-1","@class":"a"}', true],
    ['{"classes":["java.lang.Long","java.util.Date"]}', true],
    ['["order.Paid",5]', undefined],
    ['[1,2]', undefined],
    ['5', undefined],
    ['"a text"', undefined],
  ])('reveals whether it was written as plain JSON: %s', (text, isPlain) => {
    expect(isPlainJson(Buffer.from(text))).toBe(isPlain);
  });
});
