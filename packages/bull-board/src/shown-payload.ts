import { EncryptedPayload } from 'nestjs-delay-queue';

/**
 * Returns a payload that the board can send to its page, so that no message hides the others. Bytes become base64, and a `BigInt`, which a
 * codec of Redisson's layout may read, text. Of an encrypted payload, only the key is shown. What JSON cannot show, such as too deep a
 * nesting, is named.
 */
export function shownPayload(payload: unknown): unknown {
  if (payload instanceof EncryptedPayload) return { encryptedWith: payload.key };
  if (Buffer.isBuffer(payload)) return { base64: payload.toString('base64') };
  try {
    JSON.stringify(payload);
    return payload;
  } catch {
    return withoutBigInts(payload);
  }
}

function withoutBigInts(payload: unknown): unknown {
  const text = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
  try {
    return JSON.parse(JSON.stringify(payload, text));
  } catch (error) {
    return `This payload cannot be shown as JSON: ${String(error)}`;
  }
}
