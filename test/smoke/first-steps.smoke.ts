import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Application } from './application.js';
import { type PackedPackage, packPackage } from './packed-package.js';
import { readSnippet } from './read-snippet.js';

interface PackageManager {
  readonly name: 'npm' | 'pnpm';
  readonly command: readonly [string, ...string[]];
  readonly add: string;
}

const NPM: PackageManager = { name: 'npm', command: ['npm'], add: 'install' };
// The last line that runs on every supported Node.
const PNPM: PackageManager = { name: 'pnpm', command: ['npx', '--yes', 'pnpm@10'], add: 'add' };

const PATHS = [11, 12].flatMap((nest) => [NPM, PNPM].map((manager) => ({ nest, manager, name: manager.name })));

/** The steps of a new user, exactly as on the pages, from an empty folder. */
describe('the first steps', () => {
  let library: PackedPackage;

  beforeAll(async () => {
    library = await packPackage();
  });
  afterAll(() => Promise.all([library.remove(), Application.removeAll()]));

  it.each(PATHS)('work in a new application of Nest $nest with $name', async ({ nest, manager }) => {
    const { name, command, add } = manager;
    const app = await Application.create();
    const run = ([file, ...words]: readonly [string, ...string[]], ...args: readonly string[]) =>
      app.command(file, [...words, ...args]);
    const startedAt = performance.now();
    const report = (what: string) =>
      console.log(`Nest ${nest}, ${name}: ${what} after ${Math.round((performance.now() - startedAt) / 1000)} s`);

    const options = ['--directory', '.', '--skip-git', '--skip-install', '--package-manager', name];
    await app.command('npx', ['--yes', `@nestjs/cli@${nest}`, 'new', 'shop', ...options]);
    await run(command, 'install');
    await run(command, add, library.tarball, 'ioredis');
    await app.write('src/main.ts', await readSnippet('README.md', 'run'));
    await app.commandUntil([...command, 'start'], 'Hello, Ada!');
    report('first message handled');

    const test = await readSnippet('docs/testing.md', 'test');
    await app.write('src/app.ts', await readSnippet('docs/testing.md', 'file app.ts'));
    await app.write('src/app.spec.ts', nest === 11 ? test : test.replace("'./app'", "'./app.js'"));
    await expect(run(command, 'test')).resolves.toEqual(expect.any(String));
    report('first test passed');
  });
});
