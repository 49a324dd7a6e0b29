import { jest } from '@jest/globals';

// A machine that is busy with something else spoils a measurement, so it is made once more. What is really slower fails again. At once,
// because some tests change what those behind them begin with.
jest.retryTimes(1, { logErrorsBeforeRetry: true, retryImmediately: true });
