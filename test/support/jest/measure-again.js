import { expect, jest } from '@jest/globals';

/** What depends on no time, or runs at random: another run might not find what this one has found. */
const ONCE = /\/test\/(contract|hostile|layout|model|redisson-layout|soak|types|unit)\/.*\.(hostile|model|test)\.ts$/;

// A machine that is busy with something else spoils a measurement: it is made once more. What is really slower fails again. At once,
// because some tests change what those behind them begin with.
if (!ONCE.test(expect.getState().testPath)) jest.retryTimes(1, { logErrorsBeforeRetry: true, retryImmediately: true });
