/**
 * A payload as the board can send it to its page, so that no message hides the others: bytes are base64; a `BigInt`, which a codec of
 * Redisson's layout may read, is text; what JSON cannot show, such as what is nested too deeply, says so.
 */
export function shownPayload(payload: unknown): unknown {
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
