import { types } from 'node:util';
import { writeJsonData } from '../json-data.js';
import { numberOf, parseJson, writeJson } from './json-text.js';
import type { TextCodec } from './payload-codec.js';
import { presentJson, unreadable, unwritable } from './payload-errors.js';
import { readUtf8 } from './utf8.js';

/**
 * Redisson's `TypedJsonJacksonCodec`: plain JSON, of which Java knows the class.
 *
 * A payload follows the rules of `JSON.stringify`, and what that would change without a word is refused. Integers beyond ±(2⁵³ − 1), such as the ids that Java likes to generate,
 * are BigInt in both directions; decimals become the nearest number.
 */
export const jsonCodec: TextCodec = {
  encode(payload) {
    if (types.isUint8Array(payload)) {
      throw unwritable('bytes have no JSON; use the codec buffer, or offer them as text');
    }
    return presentJson(writeJsonData(payload, writeJson, isBigInt));
  },

  decode(bytes) {
    const text = readUtf8(bytes, 'json');
    try {
      return parseJson(text, numberOf);
    } catch {
      throw unreadable(bytes, 'json', 'its JSON is malformed');
    }
  },
};

function isBigInt(value: unknown): boolean {
  return typeof value === 'bigint';
}
