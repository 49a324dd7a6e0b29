import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cp } from 'node:fs/promises';
import { Application } from './application.js';
import { ENHANCED, HANDLED, ONE_COPY, TRACED, WITH_PACKAGES } from './expected.js';
import { describeHealth, type LateStatus } from './health.suite.js';
import { describeInstances } from './instances.suite.js';
import { describeNestAdd } from './nest-add.suite.js';
import { createNestApplication, type NestLine } from './nest-application.js';
import { packPackage } from './packed-package.js';
import { STRICTEST } from './strictest.js';
import type { TestRunner } from './test-runners.js';
import { describeTypedShop } from './typed-shop.suite.js';

/** The tests for one line of Nest. */
export interface NestSuite extends NestLine {
  readonly testRunners: readonly TestRunner[];
  readonly typeScripts: readonly TypeScriptSettings[];
  /** The builders of `nest build`. */
  readonly builders: readonly string[];
  /** The status of a queue with a late message, to this line of Terminus. */
  readonly lateStatus: LateStatus;
  /** Declares tests for this line only. */
  readonly more?: (app: () => Application) => void;
}

/** How an application resolves and checks its imports. */
export interface TypeScriptSettings {
  /** The installed package with the compiler. */
  readonly compiler: string;
  readonly module: string;
  readonly moduleResolution: string;
  readonly options?: object;
}

interface BundleOptions {
  readonly bundler: 'esbuild' | 'webpack';
  readonly format: 'cjs' | 'esm';
  /** The name of the bundle. */
  readonly file: string;
}

const ESBUILD_ESM: BundleOptions = { bundler: 'esbuild', format: 'esm', file: 'main.mjs' };

const BUNDLES: readonly BundleOptions[] = [
  ESBUILD_ESM,
  { bundler: 'esbuild', format: 'cjs', file: 'main.cjs' },
  { bundler: 'webpack', format: 'cjs', file: 'main.cjs' },
];

/** Declares the tests of the packed package in an application made by `nest new`. */
export function describeNestApplication(suite: NestSuite): void {
  describe(`the packed package in an application of Nest ${suite.nest} made by \`nest new\``, () => {
    let app: Application;

    beforeAll(async () => {
      const packed = await packPackage();
      app = await createNestApplication(packed.tarball, suite);
      await packed.remove();
      await app.command('nest', ['build']);
      // Kept elsewhere, because a later build deletes this one.
      await cp(app.path('dist'), app.path('built'), { recursive: true });
    });

    afterAll(() => Application.removeAll());

    it('handles a delayed message', async () => {
      expect(await app.run('built/main.js')).toEqual(HANDLED);
    });

    it('prints hello for the first message of the README', async () => {
      await expect(app.runUntil('built/first-message.js', 'Hello, Ada!')).resolves.toBeUndefined();
    });

    it('runs guards, interceptors, pipes and filters around handlers, with request-scoped instances per message', async () => {
      expect(await app.run('built/enhancers.js')).toEqual(ENHANCED);
    });

    it('works with class-validator and nestjs-cls', async () => {
      expect(await app.run('built/enhancer-packages.js')).toEqual(WITH_PACKAGES);
    });

    it('traces a message from the request that offers it to its handler', async () => {
      expect(await app.run('built/traces.js')).toEqual(TRACED);
    });

    it('serves Prometheus metrics after the documented steps are followed', async () => {
      expect(await app.run('built/measured.js', process.execPath, [app.path('built/measured-app.js')])).toEqual({
        handled: true,
        waiting: true,
      });
    });

    describeNestAdd(suite.format, () => app);
    testTools(suite, () => app);
    describeTypedShop(suite.testRunners, () => app);
    describeHealth(suite.lateStatus, () => app);
    describeInstances(() => app);
    testBundles(() => app);
    suite.more?.(() => app);
  });
}

function testTools({ testRunners, typeScripts, builders }: NestSuite, app: () => Application): void {
  it('works in node:test with its testing module', async () => {
    const output = await app().command(process.execPath, ['--test', 'built/reminders.node-test.js']);
    expect(output).toMatch(/^# pass 1$|ℹ pass 1$/m);
  });

  it.each(testRunners)(
    'works in $title with the memory store and the testing module',
    async ({ command: [file, ...args], env }) => {
      await expect(app().command(file, args, { env })).resolves.toBeDefined();
    },
  );

  it.each(typeScripts)(
    'type-checks with $compiler, module $module, resolution $moduleResolution',
    async ({ compiler, module, moduleResolution, options }) => {
      const compilerOptions = { ...STRICTEST, noEmit: true, module, moduleResolution, ...options };
      await app().write('tsconfig.strictest.json', {
        compilerOptions,
        files: ['src/main.ts', 'src/greetings.ts', 'src/reminders.check.ts'],
      });
      const args = [`node_modules/${compiler}/bin/tsc`, '-p', 'tsconfig.strictest.json'];
      expect(await app().command(process.execPath, args)).toBe('');
    },
  );

  it.each(builders)('handles a message after `nest build` with the builder %s', async (builder) => {
    await app().command('nest', ['build', '--builder', builder]);
    expect(await app().run('dist/main.js')).toEqual(HANDLED);
  });
}

function testBundles(app: () => Application): void {
  it.each(BUNDLES)('handles a message in a bundle made by $bundler ($format)', async (options) => {
    const bundle = await createBundle(app(), 'built/main.js', options);
    expect(await bundle.run(options.file)).toEqual(HANDLED);
  });

  it.each(BUNDLES)('runs enhancers around handlers in a bundle made by $bundler ($format)', async (options) => {
    const bundle = await createBundle(app(), 'built/enhancers.js', options);
    expect(await bundle.run(options.file)).toEqual(ENHANCED);
  });

  it('is loaded as one copy whether imported or required', async () => {
    expect(await app().run('both-formats/main.mjs')).toEqual(ONE_COPY);
  });

  it('is also loaded as one copy in a bundle', async () => {
    const bundle = await createBundle(app(), 'both-formats/main.mjs', ESBUILD_ESM);
    expect(await bundle.run(ESBUILD_ESM.file)).toEqual(ONE_COPY);
  });
}

/** Creates a bundle in a folder of its own, away from the packages it is made of. */
async function createBundle(app: Application, entry: string, options: BundleOptions): Promise<Application> {
  const { bundler, format, file } = options;
  const bundle = await Application.create();
  await app.command(process.execPath, ['bundle.mjs', bundler, format, entry, bundle.path(file)]);
  return bundle;
}
