import common from '../jest.config.js';

/**
 * What counts, or shows outcomes, but measures neither time nor the processor. Most of these suites wait, so they run side by
 * side, and before all others. Each of the others has the machine to itself.
 */
const SIDE_BY_SIDE = [
  'blocking-handlers',
  'clock-steps',
  'families',
  'family-race',
  'half-open',
  'idle-cost',
  'idle-wake-signals',
  'lost-permissions',
  'many-queues',
  'repeat-kills',
  'rolling-deploy',
  'sentinel-failover',
  'short-soak',
  'starts-and-stops',
].map((name) => `/test/load/${name}.load.ts`);

const { globalSetup, globalTeardown, modulePathIgnorePatterns, extensionsToTreatAsEsm, transform, moduleNameMapper } =
  common;
const load = {
  ...{ globalSetup, globalTeardown, modulePathIgnorePatterns, extensionsToTreatAsEsm, transform, moduleNameMapper },
  rootDir: '.',
};

/** @type {import('jest').Config} */
export default {
  rootDir: '../..',
  testTimeout: common.testTimeout,
  // The longest counts calls for minutes; the others take about as long in two or three workers.
  maxWorkers: 4,
  testSequencer: common.testSequencer,
  projects: [
    { ...load, displayName: 'side by side', testMatch: SIDE_BY_SIDE.map((suite) => `<rootDir>${suite}`) },
    {
      ...load,
      displayName: 'alone',
      testMatch: ['<rootDir>/test/load/*.load.ts'],
      testPathIgnorePatterns: SIDE_BY_SIDE,
      runner: '<rootDir>/test/support/jest/one-by-one.js',
      setupFilesAfterEnv: ['<rootDir>/test/support/jest/measure-again.js'],
    },
  ],
};
