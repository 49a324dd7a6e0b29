import { jest } from '@jest/globals';

// A machine that is busy with something else spoils a measurement: it is made once more. What is really slower fails again.
jest.retryTimes(1, { logErrorsBeforeRetry: true });
