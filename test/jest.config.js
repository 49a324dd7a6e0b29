/** @type {import('jest').Config} */
export default {
  rootDir: '..',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/packages/[^/]+/dist/'],
  globalSetup: '<rootDir>/test/support/jest/global-setup.js',
  globalTeardown: '<rootDir>/test/support/jest/global-teardown.js',
  testSequencer: '<rootDir>/test/support/jest/slow-first.js',
  testResultsProcessor: '<rootDir>/test/support/jest/record-run.js',
  // Only for tests that hang: waits in tests have deadlines of their own.
  testTimeout: 240_000,
  // More than the processors of a small machine: many suites wait for servers and timers.
  maxWorkers: 5,
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '@swc/jest' },
  moduleNameMapper: {
    '^nestjs-delay-queue$': '<rootDir>/lib/index.ts',
    '^nestjs-delay-queue/(\\w+)$': '<rootDir>/lib/$1/index.ts',
    '^nestjs-delay-queue-board$': '<rootDir>/packages/board/src/index.ts',
    '^nestjs-delay-queue-bull-board$': '<rootDir>/packages/bull-board/src/index.ts',
    '^nestjs-delay-queue-bull-board/nestjs$': '<rootDir>/packages/bull-board/src/nestjs/index.ts',
    '^nestjs-delay-queue-outbox$': '<rootDir>/packages/outbox/src/index.ts',
    '^nestjs-delay-queue-redisson$': '<rootDir>/packages/redisson/src/index.ts',
    // Relative imports have the suffix of the compiled output, but the tests run the sources.
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  coverageProvider: 'v8',
  collectCoverageFrom: ['lib/**/*.ts', 'packages/*/src/**/*.ts'],
};
