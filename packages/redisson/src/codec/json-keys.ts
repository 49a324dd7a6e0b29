/** True if keys are in the order in which Jackson writes the fields of a class: by UTF-16 code units. */
export function isAlphabetical(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if (keys[i - 1]! > keys[i]!) return false;
  return true;
}

/** Returns the keys that still exist, in the order in which they were received, then the new ones. */
export function inReceivedOrder(received: readonly string[], keys: readonly string[]): string[] {
  const present = new Set(keys);
  const known = new Set(received);
  return [...received.filter((key) => present.has(key)), ...keys.filter((key) => !known.has(key))];
}
