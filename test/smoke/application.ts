import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { randomName } from '../support/random-name.js';
import { sharedRedisUrl } from '../support/redis/shared-redis.js';
import { type CommandOptions, runCommand } from './run-command.js';
import { RunningProgram } from './running-program.js';

const PROGRAMS = join(import.meta.dirname, 'programs');

// Far more than needed; an application that has not exited by then is killed and fails.
const RUN_TIMEOUT = 20_000;

/** An application in a folder of its own. */
export class Application {
  static readonly #all = new Set<Application>();

  private constructor(readonly folder: string) {}

  static async create(): Promise<Application> {
    const app = new Application(await mkdtemp(join(tmpdir(), 'smoke-')));
    Application.#all.add(app);
    return app;
  }

  /** For the end of a test file; it also removes the applications of failed tests. */
  static async removeAll(): Promise<void> {
    for (const { folder } of Application.#all) await rm(folder, { recursive: true });
    Application.#all.clear();
  }

  path(...parts: readonly string[]): string {
    return join(this.folder, ...parts);
  }

  /** @param content - text, or an object to be written as JSON */
  async write(path: string, content: string | object): Promise<void> {
    await mkdir(dirname(this.path(path)), { recursive: true });
    await writeFile(this.path(path), typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  }

  async read(path: string): Promise<string> {
    return readFile(this.path(path), 'utf8');
  }

  /** Copies a program from the folder `programs`. */
  async add(program: string, target: string): Promise<void> {
    await cp(join(PROGRAMS, program), this.path(target), { recursive: true });
  }

  /** Copies a program, with relative imports as in CommonJS TypeScript: without a suffix. */
  async addCommonJs(program: string, target: string): Promise<void> {
    const text = await readFile(join(PROGRAMS, program), 'utf8');
    await this.write(target, text.replace(/(from '\.[^']*)\.js'/g, "$1'"));
  }

  async install(...packages: readonly string[]): Promise<void> {
    const flags = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', '--prefer-offline'];
    await runCommand('npm', ['install', ...flags, ...packages], { cwd: this.folder });
  }

  /** Runs a command of its packages or of the system. */
  async command(file: string, args: readonly string[], options: Omit<CommandOptions, 'cwd'> = {}): Promise<string> {
    const PATH = `${this.path('node_modules', '.bin')}${delimiter}${process.env.PATH ?? ''}`;
    return runCommand(file, args, { ...options, cwd: this.folder, env: { PATH, ...options.env } });
  }

  /** Runs a program to its end, with a queue of its own, and returns its output. */
  async run(program: string, node: string = process.execPath, words: readonly string[] = []): Promise<unknown> {
    const env = { REDIS_URL: sharedRedisUrl(), QUEUE: randomName('smoke') };
    const path = this.path(program);
    const stdout = await runCommand(node, [path, ...words], { cwd: dirname(path), env, timeout: RUN_TIMEOUT });
    return JSON.parse(stdout);
  }

  /** Runs a program until it prints the words, then ends it. */
  async runUntil(program: string, words: string): Promise<void> {
    await this.commandUntil([process.execPath, this.path(program)], words);
  }

  /** Runs a command until it prints the words, then ends it and all processes that it started. */
  async commandUntil(command: readonly [string, ...string[]], words: string): Promise<void> {
    const running = new RunningProgram(command, { cwd: this.folder });
    try {
      await running.printed(words);
    } finally {
      await running.end();
    }
  }

  /** Starts a program, which the caller must end. */
  start(program: string, env: Readonly<Record<string, string>> = {}, words: readonly string[] = []): RunningProgram {
    return new RunningProgram([process.execPath, this.path(program), ...words], { cwd: this.folder, env });
  }
}
