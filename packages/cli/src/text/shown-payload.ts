/**
 * Returns a payload that JSON can show, so that no message hides another. A `BigInt`, which a codec of Redisson's layout may read, becomes
 * text, and what JSON cannot show, such as too deep a nesting, is named.
 */
export function shownPayload(payload: unknown): unknown {
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
