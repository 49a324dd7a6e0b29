import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import type { DelayQueueProducer } from '../../lib/index.js';
import { runCommandLine } from '../../packages/cli/src/program.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { jsonLines, runCommand, startCommand } from '../support/command-line.js';
import { argumentsFor, ENVIRONMENT } from '../support/run-program.js';
import { randomName } from '../support/random-name.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { Scene } from '../support/scene.js';
import { startTestApp } from '../support/test-app.js';
import { TestTerminal } from '../support/test-terminal.js';
import { until } from '../support/until.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const COMMAND_LINE = new URL('../../packages/cli/src/main.ts', import.meta.url);

const scene = new Scene();
const run = (...words: string[]) => runCommand(scene, ...words);
const offersOf = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: `m${i}`, payload: `payload ${i}`, delay: '1h' }));

let folder: string;
let queue: string;
let producer: DelayQueueProducer;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'delay-queue-export-'));
});

afterAll(() => rm(folder, { recursive: true }));

beforeEach(async () => {
  queue = scene.newQueue();
  ({ producer } = await scene.startApp({ module: { consume: false } }));
});

/** Exports a queue into a new file, as a shell does with `>`. */
async function exportToFile(of = queue): Promise<string> {
  const { code, output, problems } = await run('export', of);
  expect({ code, problems: problems.replace(/^Queue .* was in use.*\n/, '') }).toEqual({ code: 0, problems: '' });
  const file = path.join(folder, `${randomName('export')}.ndjson`);
  await writeFile(file, output);
  return file;
}

const digestOf = async (of: string, settings: { url: string; prefix: string } = scene) =>
  (await runCommand(settings, 'export', of, '--digest')).output.trim();

/** Runs commands of a page in a shell, in which `npx` starts the command line, for the queue of the test. */
async function runShown(commands: readonly string[], variables: Record<string, string>): Promise<string> {
  const quoted = [process.execPath, ...argumentsFor(COMMAND_LINE)].map((word) => `'${word}'`).join(' ');
  const script = ['set -e', `npx() { shift; ${quoted} "$@" --prefix '${scene.prefix}'; }`, ...commands].join('\n');
  const options = { cwd: folder, env: { ...ENVIRONMENT, ...variables, NODE_NO_WARNINGS: '1' } };
  const { stdout } = await promisify(execFile)('bash', ['-c', script.replaceAll('orders', queue)], options);
  return stdout;
}

describe('the command line', () => {
  it('moves a queue to another server with the commands that the page about moving shows', async () => {
    const server = await startRedis({});
    const target = { url: server.url, prefix: scene.prefix };
    try {
      await producer.offerMany(queue, offersOf(1000));
      const page = await readFile(path.join(ROOT, 'docs/moving.md'), 'utf8');
      const shown = [...page.matchAll(/^ *```sh\n([^]*?)^ *```$/gm)].flatMap(([, block]) =>
        block!.trim().split(/\n\s*/),
      );
      expect(shown).toHaveLength(7);
      const printed = await runShown(shown, { OLD: scene.url, NEW: server.url });
      const [digest, ...others] = printed.match(/[0-9a-f]{64}/g)!;
      expect(others).toEqual([digest, digest]);
      expect(printed).toContain(`Imported into queue '${queue}': 1000 new, 0 replaced, 0 left out.`);
      const app = await startTestApp({ connection: target.url, prefix: target.prefix, consume: false });
      expect(await app.producer.status(queue)).toMatchObject({ delayed: 1000, isPaused: false });
      await app.close();
      expect(await producer.counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
    } finally {
      await server.stop();
    }
  });

  it('imports from standard input', async () => {
    await producer.offer(queue, { a: 1 }, '1h', { id: 'a' });
    const [file, target] = [await exportToFile(), scene.newQueue()];
    const terminal = new TestTerminal({ isTTY: false, answers: [await readFile(file, 'utf8')] });
    const words = ['--url', scene.url, '--prefix', scene.prefix, 'import', target, '--yes', '--json'];
    expect(await runCommandLine(words, terminal)).toBe(0);
    expect(jsonLines(terminal.printed)).toMatchObject([{ queue: target, created: 1, kept: 0, inUse: true }]);
    expect(await producer.find(target, 'a')).toMatchObject({ payload: { a: 1 } });
  });

  it('ends at a line that it cannot read, even if its input stays open', async () => {
    const words = [...argumentsFor(COMMAND_LINE), 'import', queue, '--yes', '--prefix', scene.prefix];
    const env = { ...ENVIRONMENT, REDIS_URL: scene.url, NODE_NO_WARNINGS: '1' };
    const child = spawn(process.execPath, words, { env, stdio: ['pipe', 'ignore', 'pipe'], timeout: 60_000 });
    child.stdin.write('{"kind":"nonsense"}\n');
    const [problems] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect(child.exitCode).toBe(2);
    expect(problems).toMatch(/^line 1: kind must be 'export' or /);
  });

  it('continues an import that was killed when it is repeated', async () => {
    await producer.offerMany(queue, offersOf(5000));
    await producer.pause(queue);
    const [file, target] = [await exportToFile(), scene.newQueue()];
    const child = startCommand(scene, ['import', target, file, '--yes', '--per-second', '1000']);
    await until(async () => (await producer.counts(target)).delayed >= 1000, { within: 30_000 });
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    const { delayed } = await producer.counts(target);
    expect(delayed).toBeLessThan(5000);
    expect(await producer.isPaused(target)).toBe(true);
    const again = await run('import', target, file, '--yes', '--json');
    expect(jsonLines(again.output)).toMatchObject([{ created: 5000 - delayed, kept: delayed }]);
    expect(await digestOf(target)).toBe(await digestOf(queue));
  });

  it('says that a queue was in use', async () => {
    await producer.offer(queue, 1, '1h');
    const { code, problems, output } = await run('export', queue);
    expect(code).toBe(0);
    expect(problems).toBe(`Queue '${queue}' was in use, so this is not its state at one instant\n`);
    expect(jsonLines(output).at(-1)).toMatchObject({ kind: 'end', inUse: true });
  });

  it('checks an export without writing anything', async () => {
    await producer.offer(queue, 1, '1h');
    const [file, target] = [await exportToFile(), scene.newQueue()];
    const { code, output } = await run('import', target, file, '--dry-run');
    expect({ code, output }).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^All lines can be imported: 1 message\. Nothing was written\.\n/) as unknown,
    });
    expect(await scene.redis.keys(`*{${target}}*`)).toEqual([]);
  });

  it('notices a file that is cut off, or was changed', async () => {
    await producer.offerMany(queue, offersOf(3));
    const [file, target] = [await exportToFile(), scene.newQueue()];
    const whole = await readFile(file, 'utf8');
    await writeFile(file, whole.split('\n').slice(0, -2).join('\n'));
    const cut = await run('import', target, file, '--dry-run');
    expect(cut).toMatchObject({ code: 2, problems: 'after line 5: the export is cut off: its last line is missing\n' });
    await writeFile(file, whole.replace('payload 1', 'payload 7'));
    const changed = await run('import', target, file, '--dry-run');
    expect(changed.problems).toContain('line 6: the digest differs');
  });

  it.each([
    ['keep', { created: 1, kept: 1, replaced: 0 }, 'mine'],
    ['replace', { created: 1, kept: 0, replaced: 1 }, 'payload 0'],
  ])('does with ids in use what --on-duplicate %s says', async (how, counts, payload) => {
    await producer.offerMany(queue, offersOf(2));
    const [file, target] = [await exportToFile(), scene.newQueue()];
    await producer.offer(target, 'mine', '1h', { id: 'm0' });
    const { output } = await run('import', target, file, '--yes', '--json', '--on-duplicate', how);
    expect(jsonLines(output)).toMatchObject([counts]);
    expect(await producer.find(target, 'm0')).toMatchObject({ payload });
  });

  it('stops at an id in use with --on-duplicate reject', async () => {
    await producer.offer(queue, 1, '1h', { id: 'a' });
    const [file, target] = [await exportToFile(), scene.newQueue()];
    await producer.offer(target, 1, '1h', { id: 'a' });
    const { code, problems } = await run('import', target, file, '--yes', '--on-duplicate', 'reject');
    expect(code).toBe(1);
    expect(problems).toMatch(
      /^line 3: Queue '.*' already has a message 'a'\. Messages written before this: 0\. Repeat/,
    );
  });

  it('refuses an import without --yes, and a file that it cannot read', async () => {
    expect(await run('import', queue, path.join(folder, 'none.ndjson'), '--yes')).toMatchObject({
      code: 2,
      problems: `${path.join(folder, 'none.ndjson')} cannot be read (ENOENT)\n`,
    });
    await producer.offer(queue, 1, '1h');
    const [file, target] = [await exportToFile(), scene.newQueue()];
    const refused = await run('import', target, file);
    expect(refused).toMatchObject({ code: 1, output: '' });
    expect(refused.problems).toContain('add --yes');
  });

  it('asks before an import on a terminal', async () => {
    await producer.offer(queue, 1, '1h');
    const [file, target] = [await exportToFile(), scene.newQueue()];
    const words = ['--url', scene.url, '--prefix', scene.prefix, 'import', target, file];
    const terminal = new TestTerminal({ isTTY: true, answers: ['n\n'] });
    expect(await runCommandLine(words, terminal)).toBe(1);
    expect(terminal.said).toContain(`Import into queue '${target}' on`);
    expect((await producer.counts(target)).delayed).toBe(0);
    const agreed = new TestTerminal({ isTTY: true, answers: ['y\n'] });
    expect(await runCommandLine(words, agreed)).toBe(0);
    expect((await producer.counts(target)).delayed).toBe(1);
  });

  it('refuses a queue that was never used, and the layout redisson', async () => {
    expect(await run('export', queue)).toMatchObject({ code: 1, output: '' });
    const layout = { layout: redisson() };
    const app = await scene.startApp({ module: { consume: false, queues: { [queue]: layout } } });
    await app.producer.offer(queue, {}, '1h');
    const { code, output, problems } = await run('export', queue, '--layout', 'redisson');
    expect({ code, output }).toEqual({ code: 1, output: '' });
    expect(problems).toContain("has the layout 'redisson', which can neither be exported nor imported");
    await app.producer.clear(queue);
  });
});

describe('an export on its way to another server', () => {
  let server: TestRedis;

  beforeAll(async () => {
    server = await startRedis({});
  });

  afterAll(() => server.stop());

  it('can be piped, with another number of partitions and with groups', async () => {
    const app = await scene.startApp({ module: { consume: false, defaults: { groups: { concurrency: 2 } } } });
    await app.producer.offerMany(
      queue,
      offersOf(300).map((offer, i) => ({ ...offer, ...(i % 2 === 0 && { group: `g${i % 10}` }) })),
    );
    await app.producer.pause(queue);
    const target = await startTestApp({
      connection: server.url,
      prefix: 'p',
      consume: false,
      queues: { [queue]: { partitions: 4 } },
    });
    expect(await target.producer.counts(queue)).toMatchObject({ delayed: 0 });
    const imported = await runCommand({ url: server.url, prefix: 'p' }, 'import', queue, await exportToFile(), '--yes');
    expect(imported).toMatchObject({ code: 0, problems: '' });
    expect(await digestOf(queue, { url: server.url, prefix: 'p' })).toBe(await digestOf(queue));
    const redis = new Redis(server.url);
    const places = await redis.keys('*:messages');
    redis.disconnect();
    expect(places).toHaveLength(5);
    await target.close();
  });
});
