import { numberOf, parseJson, writeJson } from './json-text.js';
import type { TextCodec } from './payload-codec.js';
import { presentJson, unreadable, unwritable } from './payload-errors.js';
import { readUtf8 } from './utf8.js';

/**
 * Redisson's `TypedJsonJacksonCodec`: plain JSON, of which Java knows the class.
 *
 * A payload follows the rules of `JSON.stringify`. Integers beyond ±(2⁵³ − 1), such as the ids that Java likes to generate,
 * are BigInt in both directions; decimals become the nearest number.
 */
export const jsonCodec: TextCodec = {
  encode(payload) {
    if (payload instanceof Uint8Array) {
      throw unwritable('bytes have no JSON; use the codec buffer, or offer them as text');
    }
    let json: string | undefined;
    try {
      json = writeJson(payload);
    } catch (cause) {
      const [reason] = String(cause).split('\n');
      throw unwritable(`it cannot be written as JSON (${reason}); offer plain data without cycles`, cause);
    }
    return presentJson(json, payload);
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
