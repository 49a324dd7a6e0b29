import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { published } from '../support/redis/provisioned.js';
import { argumentsFor } from '../support/run-program.js';
import { until } from '../support/until.js';
import { EventReader } from './sample-app.events.js';

const PROGRAM = new URL('../../sample-app/main.ts', import.meta.url);

/** A connection kept alive would outlive the test. */
const SINGLE = { connection: 'close' };

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** The sample application in a process of its own, on a free port. */
export class SampleApp {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  #log = '';

  /** Starts the process; see {@link ready}. */
  constructor(env: Record<string, string>) {
    const child = spawn(process.execPath, argumentsFor(PROGRAM), {
      env: { PATH: '', PORT: '0', NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#closed = once(child, 'close');
    child.stdout.on('data', (data) => (this.#log += String(data)));
    child.stderr.on('data', (data) => (this.#log += String(data)));
    this.#child = child;
  }

  static async start(env: Record<string, string> = {}): Promise<SampleApp> {
    const app = new SampleApp(env);
    await app.ready();
    return app;
  }

  get log(): string {
    return this.#log;
  }

  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  get url(): string {
    return /Open (http:\S+)/.exec(this.#log)?.[1] ?? '';
  }

  /** The URL of the private Redis, if the application has started one. */
  get redisUrl(): string {
    return /private Redis at (redis:\S+)/.exec(this.#log)?.[1] ?? '';
  }

  async ready(): Promise<void> {
    await until(() => this.url !== '' || this.exitCode !== null, { within: 30_000 });
    if (this.url === '') throw new Error(`The sample application did not start:\n${this.#log}`);
  }

  async exited(): Promise<number | null> {
    await this.#closed;
    return this.exitCode;
  }

  async end(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    this.#child.kill(signal);
    await this.#closed;
  }

  async get(path: string): Promise<Answer> {
    return read(await fetch(this.url + path, { headers: SINGLE }));
  }

  async post(path: string, body?: unknown): Promise<Answer> {
    const json = { headers: { ...SINGLE, 'content-type': 'application/json' }, body: JSON.stringify(body) };
    return read(await fetch(this.url + path, { method: 'POST', headers: SINGLE, ...(body !== undefined && json) }));
  }

  /** Places an order and returns its id. */
  async place(order: { item?: string; payWithin?: string | number }): Promise<string> {
    const { body } = await this.post('/orders', order);
    return String(body.id);
  }

  /** Listens as a page does. */
  listen(): Promise<EventReader> {
    return EventReader.open(`${this.url}/events`);
  }
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
}

/** A folder for data, and one with a Redis in it for the PATH. */
export class SampleFolders {
  readonly data = mkdtempSync(join(tmpdir(), 'sample-data-'));
  readonly #bin = mkdtempSync(join(tmpdir(), 'sample-bin-'));

  constructor() {
    const runtime = published()?.runtime;
    if (runtime?.kind === 'binary') symlinkSync(runtime.path, join(this.#bin, 'redis-server'));
  }

  /** The environment in which the application starts a private Redis. */
  get env(): Record<string, string> {
    return { PATH: this.#bin, SAMPLE_DATA_DIR: this.data };
  }

  remove(): void {
    for (const folder of [this.data, this.#bin]) rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  }
}

/** With containers only, there is no server that the application could start. */
export const hasServerBinary = published()?.runtime?.kind === 'binary';
