/** Whether `npm run test:thorough` runs: suites that `npm test` runs in part, because they take long and rarely tell more, run whole. */
export const isThorough = process.env.THOROUGH !== undefined;
