import { describe, expect, it } from '@jest/globals';
import { Application } from './application.js';
import type { NestLine } from './nest-application.js';

const WRITTEN = ['package.json', 'src/app.module.ts', 'src/reminders/reminders.ts', 'src/reminders/reminders.spec.ts'];

/** Declares the tests of what `nest add nestjs-delay-queue` has done; the test runners run the test that it wrote. */
export function describeNestAdd(format: NestLine['format'], app: () => Application): void {
  const suffix = format === 'esm' ? '.js' : '';
  describe('`nest add nestjs-delay-queue`', () => {
    it('imports the module and provides the example', async () => {
      const module = await app().read('src/app.module.ts');
      expect(module).toContain(`import { DelayQueueModule } from 'nestjs-delay-queue';\n`);
      expect(module).toContain(`import { Reminders } from './reminders/reminders${suffix}';\n`);
      expect(module).toContain("  imports: [DelayQueueModule.forRoot({ store: 'memory' })],\n");
      expect(module).toContain('  providers: [AppService, Reminders],\n');
      expect(await app().read('src/added.ts')).toMatch(/create\(AppModule\);\n {2}app\.enableShutdownHooks\(\);/);
    });

    it('leaves an application that still starts', async () => {
      await expect(app().runUntil('built/added.js', 'successfully started')).resolves.toBeUndefined();
    });

    it("writes code that passes the application's linter and Prettier", async () => {
      const files = ['src/app.module.ts', 'src/reminders', 'src/added.ts'];
      const linter = format === 'esm' ? ['oxlint', '--type-aware'] : ['eslint'];
      await expect(app().command('npx', [...linter, ...files])).resolves.toBeDefined();
      await expect(app().command('prettier', ['--check', ...files])).resolves.toBeDefined();
    });

    it('installs ioredis if it is missing', async () => {
      const other = await Application.create();
      await other.write('package.json', {});
      await other.write('src/app.module.ts', '@Module({})\nexport class AppModule {}\n');
      const collection = app().path('node_modules/nestjs-delay-queue/schematics/collection.json');
      const schematics = app().path('node_modules/.bin/schematics');
      await other.command(schematics, [`${collection}:nest-add`, '--no-dry-run']);
      expect(JSON.parse(await other.read('node_modules/ioredis/package.json'))).toMatchObject({ name: 'ioredis' });
    });

    it('adds nothing when it is run a second time', async () => {
      const read = () => Promise.all(WRITTEN.map((path) => app().read(path)));
      const before = await read();
      const output = await app().command('nest', ['add', 'nestjs-delay-queue', '--skip-install']);
      expect(output).toContain('src/app.module.ts has the DelayQueueModule already; nothing was changed.');
      expect(await read()).toEqual(before);
    });

    it.each([
      ['--module nowhere.module.ts', 'There is no src/nowhere.module.ts: pass --module'],
      ['--connection http://127.0.0.1:6379', 'connection must be the URL of a Redis'],
      ['--conection redis://127.0.0.1', 'conection'],
    ])('refuses %s and says why', async (options, reason) => {
      // The command of Nest 11 ends with 0 all the same.
      const command = `nest add nestjs-delay-queue --skip-install ${options} 2>&1 || true`;
      expect(await app().command('sh', ['-c', command])).toContain(reason);
    });
  });
}
