import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { promisify } from 'node:util';
import { format } from 'prettier';
import { ENVIRONMENT } from '../support/run-program.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PROGRAM = path.join(ROOT, 'node_modules/@angular-devkit/schematics-cli/bin/schematics.js');
const SCHEMATIC = `${path.join(ROOT, 'schematics/collection.json')}:nest-add`;

const MODULE = `import { Module } from '@nestjs/common';\n\n@Module({\n  imports: [],\n})\nexport class AppModule {}\n`;
const MAIN = `async function bootstrap() {\n  const app = await NestFactory.create(AppModule);\n  await app.listen(3000);\n}\n`;
/** As far as the schematic reads what `nest new` makes. */
const STOCK = { 'package.json': '{}', 'src/app.module.ts': MODULE, 'src/main.ts': MAIN };

const folders: string[] = [];

async function createApplication(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'nest-add-'));
  folders.push(folder);
  for (const [file, text] of Object.entries({ ...STOCK, ...files })) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
  }
  return folder;
}

/** Runs the schematic as the Nest CLI does, and returns what it printed. It installs nothing. */
async function add(folder: string, ...options: string[]): Promise<string> {
  const args = [PROGRAM, SCHEMATIC, '--no-dry-run', '--skip-install', ...options];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: folder, env: ENVIRONMENT });
  return stdout + stderr;
}

const read = (folder: string, file: string) => readFile(path.join(folder, file), 'utf8');
const ioredisOf = async (folder: string) =>
  (JSON.parse(await read(folder, 'package.json')) as { dependencies: Record<string, string> }).dependencies.ioredis;

async function expectUnchanged(folder: string): Promise<void> {
  const files = Object.keys(STOCK) as (keyof typeof STOCK)[];
  for (const file of files) expect(await read(folder, file)).toBe(STOCK[file]);
}

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

describe('nest add', () => {
  test('adds ioredis, in the version that TypeORM accepts if the application uses TypeORM', async () => {
    const [plain, typeorm, own] = await Promise.all([
      createApplication(),
      createApplication({ 'package.json': '{"dependencies":{"typeorm":"^1.1.0"}}' }),
      createApplication({ 'package.json': '{"dependencies":{"ioredis":"5.4.1"}}' }),
    ]);
    for (const folder of [plain, typeorm, own]) await add(folder);
    expect(await ioredisOf(plain)).toBe('^6.0.0');
    expect(await ioredisOf(typeorm)).toBe('^5.4.0');
    expect(await ioredisOf(own)).toBe('5.4.1');
  });

  test('writes the address of the given Redis into the module', async () => {
    const folder = await createApplication();
    await add(folder, '--connection', 'redis://127.0.0.1:6379');
    expect(await read(folder, 'src/app.module.ts')).toContain(
      "DelayQueueModule.forRoot({\n      connection: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379',\n    }),",
    );
  });

  test.each([
    ['for the memory store', []],
    ['for a Redis', ['--connection', 'redis://127.0.0.1:6379']],
    ['for a Redis with a long address', ['--connection', 'rediss://shop:secret@redis.example.com:6380']],
  ])('writes code that Prettier accepts with the settings of `nest new`: %s', async (_, options) => {
    const folder = await createApplication();
    await add(folder, ...options);
    const written = ['app.module.ts', 'main.ts', 'reminders/reminders.ts', 'reminders/reminders.spec.ts'];
    for (const file of written) {
      const text = await read(folder, `src/${file}`);
      expect(await format(text, { parser: 'typescript', singleQuote: true, trailingComma: 'all' })).toBe(text);
    }
  });

  test('imports the example into a module in another folder', async () => {
    const folder = await createApplication({ 'src/core/core.module.ts': MODULE });
    await add(folder, '--module', 'core/core.module.ts');
    expect(await read(folder, 'src/core/core.module.ts')).toContain("from '../reminders/reminders';");
  });

  test('does not touch a customized main.ts and says what to add to it', async () => {
    const folder = await createApplication({ 'src/main.ts': 'start();' });
    expect(await add(folder)).toContain('Call app.enableShutdownHooks() where you create the application.');
    expect(await read(folder, 'src/main.ts')).toBe('start();');
  });

  test('fails and changes nothing if the application has a file with the name of the example', async () => {
    const folder = await createApplication({ 'src/reminders/reminders.ts': 'mine' });
    await expect(add(folder)).rejects.toThrow('src/reminders/reminders.ts exists already');
    expect(await read(folder, 'src/reminders/reminders.ts')).toBe('mine');
    await expectUnchanged(folder);
  });

  test.each(["redis://x'});process.exit('", 'http://127.0.0.1', 'redis://a b'])(
    'refuses the connection %j',
    async (connection) => {
      const folder = await createApplication();
      await expect(add(folder, `--connection=${connection}`)).rejects.toThrow('connection must be the URL of a Redis');
      await expectUnchanged(folder);
    },
  );
});
