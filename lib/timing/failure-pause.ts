const FIRST_PAUSE = 100;
const MAX_PAUSE = 5000;

/**
 * How long a loop pauses after its n-th failure in a row: 0.1 s, doubling up to 5 s, shortened at random by up to a quarter.
 *
 * @param failures - 1 for the first
 * @returns ms
 */
export function failurePause(failures: number, random: () => number = Math.random): number {
  const pause = Math.min(FIRST_PAUSE * 2 ** (failures - 1), MAX_PAUSE);
  return pause * (1 - random() / 4);
}
