import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Application } from './application.js';
import { PROJECT } from './packed-package.js';
import { readSnippet } from './read-snippet.js';

/** A line of Nest, and how to set up the application that its `nest new` makes. */
export interface NestLine {
  readonly nest: number;
  readonly format: 'cjs' | 'esm';
  /** Packages in addition to those of `nest new`. */
  readonly packages: readonly string[];
}

/** Packages that the tests of both lines need. */
const PACKAGES = [
  'ioredis@6',
  '@swc/cli',
  '@swc/core',
  'esbuild',
  'webpack',
  'class-transformer',
  'class-validator',
  'nestjs-cls@6',
  'zod@4',
  '@opentelemetry/api@1.9',
  '@opentelemetry/context-async-hooks@2',
  '@opentelemetry/core@2',
  '@opentelemetry/exporter-prometheus',
  '@opentelemetry/sdk-metrics@2',
  '@opentelemetry/sdk-trace-base@2',
  'valibot@1',
  'arktype@2',
  'typescript-5.7@npm:typescript@~5.7.0',
  'typescript-6.0@npm:typescript@~6.0.0',
];

/** Programs that keep their names; `consumer.ts` becomes `main.ts`. */
const PROGRAMS = [
  'greetings.ts',
  'greetings.spec.ts',
  'enhancers.ts',
  'enhancer-packages.ts',
  'reminders.ts',
  'reminders.check.ts',
  'reminders.spec.ts',
  'reminders.node-test.ts',
  'shop.ts',
  'shop.spec.ts',
  'traces.ts',
  'measured.ts',
  'health.ts',
  'instances.ts',
];

/** arktype is an ES module, which TypeScript before 5.8 lets CommonJS import for its types alone. */
const ARKTYPE_IN_CJS = `import type { type as ark } from 'arktype' with { 'resolution-mode': 'import' };
declare const type: typeof ark;`;

/** Runs `nest new` of this line, installs the package from its tarball, and runs `nest add`. */
export async function createNestApplication(
  tarball: string,
  { nest, format, packages }: NestLine,
): Promise<Application> {
  const app = await Application.create();
  const cli = ['--yes', '--prefer-offline', `@nestjs/cli@${nest}`];
  const options = ['--directory', '.', '--skip-git', '--skip-install', '--package-manager', 'npm'];
  await app.command('npx', [...cli, 'new', 'shop', ...options]);
  await app.install(tarball, `@nestjs/terminus@${nest}`, ...PACKAGES, ...packages);
  await addByNest(app);
  const add = (program: string, target: string) =>
    format === 'cjs' ? app.addCommonJs(program, target) : app.add(program, target);
  await add('consumer.ts', 'src/main.ts');
  for (const program of PROGRAMS) await add(program, `src/${program}`);
  await app.write('src/first-message.ts', await readSnippet('README.md', 'run'));
  for (const file of ['metrics', 'measured-app']) {
    const snippet = await readSnippet('docs/observability.md', `file ${file}.ts`);
    await app.write(`src/${file}.ts`, format === 'esm' ? snippet.replace("'./metrics'", "'./metrics.js'") : snippet);
  }
  await app.write('test/typed-queues.types.ts', await typedQueues(format));
  await app.add('both-formats', 'both-formats');
  await app.add('bundle.js', 'bundle.mjs');
  return app;
}

/** Runs `nest add` in the application as `nest new` has made it, and keeps its `main.ts` under another name. */
async function addByNest(app: Application): Promise<void> {
  await app.command('nest', ['add', 'nestjs-delay-queue', '--skip-install']);
  await app.write('src/added.ts', await app.read('src/main.ts'));
}

/** Uses of typed queues that the compiler must accept, and those that it must refuse. */
async function typedQueues(format: NestLine['format']): Promise<string> {
  const text = await readFile(join(PROJECT, 'test/types/typed-queues.types.ts'), 'utf8');
  const installed = text.replace("'../../lib/index.js'", "'nestjs-delay-queue'");
  return format === 'esm' ? installed : installed.replace("import { type } from 'arktype';", ARKTYPE_IN_CJS);
}
