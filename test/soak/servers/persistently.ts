import { until } from '../../support/until.js';

/** The time limit of all attempts, ms. */
const MAX_TIME = 15_000;

const PAUSE = 100;

/** Tries again what fails because a busy machine is too slow to answer; the work must bear being done twice. */
export async function persistently<T>(work: () => Promise<T>): Promise<T> {
  let result: T;
  await until(
    async () => {
      result = await work();
      return true;
    },
    { within: MAX_TIME, every: PAUSE },
  );
  return result!;
}
