import type { GoldenCodec, GoldenInput } from './golden.js';

const TEXTS: readonly GoldenInput[] = [
  ...['', 'a', 'ab', 'hello', '{"a":1}', 'null', '\u0000', 'a\u0000b', '\u007f', '\u0080', 'é', 'aé', 'éa'],
  ...['\u07ff', '\u0800', '日本語', '😀', 'mixed: aé日😀', '\uffff', '\ufeffmarked'],
].map((value) => ({ value }));

/** Around the lengths at which the format of a text changes, or the size of its length field. */
const LENGTHS: readonly GoldenInput[] = [
  ...[31, 32, 33, 62, 63, 64, 65, 8190, 8191, 8192, 100_000].map((times) => ({ value: 'x', times })),
  ...[31, 32, 33, 63, 8191].map((times) => ({ value: 'é', times })),
];

const NATURALS: readonly GoldenInput[] = [
  true,
  0,
  -5,
  2147483647,
  2147483648,
  0.1,
  [],
  [1, 'a', [null]],
  {},
  { a: 1, b: [true, { c: null }] },
].map((value) => ({ value }));

/** The codecs that write all samples of the peer. */
export const CODECS_OF_SAMPLES: readonly GoldenCodec[] = ['jackson', 'json'];

export const GOLDEN_INPUTS: Readonly<Record<GoldenCodec, readonly GoldenInput[]>> = {
  string: [...TEXTS, ...LENGTHS],
  bytes: [{ sample: 'byte[]' }],
  kryo5: [...TEXTS, ...LENGTHS, { value: '\ud800' }, { value: 5 }, { value: ['a'] }, { value: { a: 1 } }],
  jackson: [...TEXTS, ...NATURALS],
  json: [...TEXTS, ...NATURALS],
};

export const GOLDEN_OFFERS: readonly { readonly codec: GoldenCodec; readonly value: unknown }[] = [
  { codec: 'string', value: 'hello' },
  { codec: 'string', value: '' },
  { codec: 'string', value: 'x'.repeat(300) },
  { codec: 'kryo5', value: 'hello' },
  { codec: 'jackson', value: { orderId: 7, tags: ['a'] } },
  { codec: 'json', value: { orderId: 7, tags: ['a'] } },
];
