const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 5000;

/** How long a loop pauses after its n-th failure in a row: from 0.1 s, doubling, to 5 s, less up to a quarter at random. */
export function failurePause(failures: number, random: () => number = Math.random): number {
  const pause = Math.min(FIRST_PAUSE * 2 ** (failures - 1), LONGEST_PAUSE);
  return pause * (1 - random() / 4);
}
