import type { Random } from '../soak/random.js';

/** No input of a run is longer, bytes. A few are as long, so that recursion and quadratic time show. */
export const LONGEST = 1_000_000;
const LONG = 4096;

/** Tokens of the formats: forms of bodies, JSON, class names, numbers at the limits, and text that is not valid. */
const TOKENS = [
  ...[
    'W1\n',
    'Ngroup\ng\n',
    'Nrepeat\n',
    'Nprogress\n3 paused\n',
    'Nretry\n3\n',
    'Nexpires\n1 dead\n',
    'Nencrypted\nk1:0\n',
  ],
  ...[
    'J',
    'B',
    'j{}\n',
    'Kt\n',
    'c',
    '\n',
    '{',
    '}',
    '[',
    ']',
    '"',
    ':',
    ',',
    'null',
    'true',
    '{"":',
    '[[',
    '__proto__',
  ],
  ...[
    '-0',
    '1e400',
    '1e-400',
    '9007199254740993',
    '99999999999999999999',
    '1.50',
    '-1',
    '0',
    '8640000000000001',
    'NaN',
  ],
  ...[
    '"@class":"java.util.HashMap",',
    '["java.lang.Long",5]',
    '["java.util.ArrayList",[',
    '"toJSON":1',
    '\\ud800',
    '\\u0000',
  ],
  ...['message', 'encrypted', 'base64', 'attempts', 'backoff', 'follower', 'offer', 'cancel', 'reschedule'].map(
    (word) => `"${word}":`,
  ),
].map((token) => Buffer.from(token));
const ODD_BYTES = [0, 1, 2, 10, 13, 32, 127, 128, 192, 216, 237, 254, 255];

/** Makes an input from a sample: changes it a few times, or replaces it by random bytes. */
export function mutate(random: Random, samples: readonly Buffer[]): Buffer {
  if (random.chance(0.03)) return randomBytes(random, random.int(0, 64));
  let bytes = random.pick(samples);
  // Valid inputs are checked as well.
  for (let changes = random.int(0, 6); changes > 0; changes--) bytes = change(random, bytes, samples);
  if (random.chance(0.0005)) bytes = repeated(random, bytes);
  return bytes.subarray(0, LONGEST);
}

function change(random: Random, bytes: Buffer, samples: readonly Buffer[]): Buffer {
  const [from, to] = range(random, bytes.length);
  const [before, between, after] = [bytes.subarray(0, from), bytes.subarray(from, to), bytes.subarray(to)];
  switch (random.int(0, 7)) {
    case 0:
      return withByte(bytes, from, random.int(0, 255));
    case 1:
      return withByte(bytes, from, (bytes[from] ?? 0) ^ (1 << random.int(0, 7)));
    case 2:
      return withByte(bytes, from, random.pick(ODD_BYTES));
    case 3:
      return Buffer.concat([before, after]);
    case 4:
      return before;
    case 5:
      return Buffer.concat([before, between, between, after]).subarray(0, LONG);
    case 6:
      return Buffer.concat([before, random.pick(TOKENS), random.chance(0.5) ? after : Buffer.concat([between, after])]);
    default: {
      const other = random.pick(samples);
      return Buffer.concat([before, other.subarray(...range(random, other.length)), after]).subarray(0, LONG);
    }
  }
}

/** Repeats a token or a part of the bytes as often as fits. */
function repeated(random: Random, bytes: Buffer): Buffer {
  const [from, to] = range(random, bytes.length);
  const part = random.chance(0.5) || from === to ? random.pick(TOKENS) : bytes.subarray(from, to);
  const size = random.pick([LONG, 65_536, LONGEST]);
  const many = Buffer.alloc(Math.floor(size / part.length) * part.length, part);
  return Buffer.concat([bytes.subarray(0, from), many, bytes.subarray(to)]);
}

function withByte(bytes: Buffer, at: number, byte: number): Buffer {
  const copy = Buffer.from(bytes);
  if (copy.length > 0) copy[Math.min(at, copy.length - 1)] = byte;
  return copy;
}

function range(random: Random, length: number): [from: number, to: number] {
  const from = random.int(0, length);
  return [from, random.int(from, Math.min(length, from + 32))];
}

function randomBytes(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.int(0, 255)));
}
