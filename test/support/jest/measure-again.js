import { expect, jest } from '@jest/globals';

// A machine that is busy with something else spoils a measurement: it is made once more. What is really slower fails again. Random runs
// are not repeated: another one might not find what this one has found.
if (!/\/test\/(contract|model|unit)\//.test(expect.getState().testPath)) {
  jest.retryTimes(1, { logErrorsBeforeRetry: true });
}
