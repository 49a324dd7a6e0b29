const FIRST_PAUSE = 100;
const MAX_PAUSE = 5000;

/** The pause of a loop after its n-th failure in a row (from 1), ms: 100, doubling up to 5000, shortened at random by up to a quarter. */
export function failurePause(failures: number, random: () => number = Math.random): number {
  const pause = Math.min(FIRST_PAUSE * 2 ** (failures - 1), MAX_PAUSE);
  return pause * (1 - random() / 4);
}
