import { describeNestApplication } from './nest-application.suite.js';
import { jestRunner, VITEST } from './test-runners.js';

const SWC = {
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
  },
};

/** Jest's settings for ES modules. */
const JEST = {
  rootDir: 'src',
  testRegex: String.raw`\.spec\.ts$`,
  extensionsToTreatAsEsm: ['.ts'],
  transform: { [String.raw`\.ts$`]: ['@swc/jest', SWC] },
  moduleNameMapper: { [String.raw`^(\.{1,2}/.*)\.js$`]: '$1' },
};

describeNestApplication({
  nest: 12,
  format: 'esm',
  packages: ['jest@30', '@swc/jest'],
  testRunners: [
    VITEST,
    jestRunner({
      title: 'jest with ES modules',
      args: ['--config', JSON.stringify(JEST)],
      env: { NODE_OPTIONS: '--experimental-vm-modules' },
    }),
  ],
  typeScripts: [
    { compiler: 'typescript-5.7', module: 'nodenext', moduleResolution: 'nodenext' },
    { compiler: 'typescript-6.0', module: 'nodenext', moduleResolution: 'nodenext' },
  ],
  lateStatus: 'degraded',
  // Nest's own webpack builder refuses ES modules.
  builders: ['swc'],
});
