import { expect, it } from '@jest/globals';
import type { Application } from './application.js';
import { HANDLED } from './expected.js';
import { describeNestApplication } from './nest-application.suite.js';
import { jestRunner } from './test-runners.js';

/** The settings that `nest new` used to write: classic resolution, which does not know `exports`. */
const CLASSIC = {
  compilerOptions: {
    module: 'commonjs',
    declaration: true,
    removeComments: true,
    emitDecoratorMetadata: true,
    experimentalDecorators: true,
    allowSyntheticDefaultImports: true,
    target: 'ES2023',
    sourceMap: true,
    outDir: './dist',
    baseUrl: './',
    incremental: true,
    skipLibCheck: true,
    strictNullChecks: true,
  },
};

describeNestApplication({
  nest: 11,
  format: 'cjs',
  packages: [],
  testRunners: [jestRunner({ title: 'its own jest' })],
  typeScripts: [
    { compiler: 'typescript-5.7', module: 'nodenext', moduleResolution: 'nodenext' },
    {
      compiler: 'typescript-5.7',
      module: 'commonjs',
      moduleResolution: 'node10',
      options: { esModuleInterop: false },
    },
    { compiler: 'typescript-6.0', module: 'nodenext', moduleResolution: 'nodenext' },
  ],
  lateStatus: 'up',
  builders: ['swc', 'webpack'],
  more: testClassicSettings,
});

function testClassicSettings(app: () => Application): void {
  it('works with the classic compiler options, in a build and in Jest', async () => {
    await app().write('tsconfig.json', CLASSIC);
    await app().command('nest', ['build']);
    expect(await app().run('dist/main.js')).toEqual(HANDLED);
    await app().command('jest', []);
  });
}
