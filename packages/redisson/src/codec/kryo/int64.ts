/** A Java long: a number if that is exact, otherwise a BigInt. */
export type Int64 = number | bigint;

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;

/** Returns a number if that is exact. */
export function int64(value: bigint): Int64 {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

export function isInt64(value: bigint): boolean {
  return value >= MIN && value <= MAX;
}
