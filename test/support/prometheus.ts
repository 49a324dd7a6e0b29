import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { isExecutable } from './is-executable.js';
import { unpackPackage } from './redis/debian-package.js';
import { onRandomPort, PortInUseError } from './redis/random-port.js';
import { until } from './until.js';

const PROGRAMS = ['prometheus', 'promtool'] as const;

/** Prometheus and its tool that checks rules: those on the PATH, or those of Debian's package, which is not installed. */
export class Prometheus {
  readonly #unpacked: string | undefined;
  readonly #folder: string;

  /** @throws if it cannot be had here */
  constructor() {
    const folders = process.env.PATH?.split(delimiter) ?? [];
    const installed = folders.find((folder) => PROGRAMS.every((name) => isExecutable(join(folder, name))));
    if (installed !== undefined) {
      this.#folder = installed;
      return;
    }
    this.#unpacked = mkdtempSync(join(tmpdir(), 'prometheus-'));
    unpackPackage('prometheus', this.#unpacked);
    this.#folder = join(this.#unpacked, 'usr', 'bin');
  }

  /**
   * Runs promtool to its end.
   *
   * @throws Error with its output if it finds something wrong
   */
  async check(...args: readonly string[]): Promise<void> {
    const path = join(this.#folder, 'promtool');
    await promisify(execFile)(path, args).catch((error: Error & { stdout?: string; stderr?: string }) => {
      throw new Error([error.message, error.stdout, error.stderr].join('\n'));
    });
  }

  /** Starts a server for the caller alone, who must `stop()` it. @param configuration - in JSON, which is YAML */
  async start(configuration: object): Promise<PrometheusServer> {
    const folder = await mkdtemp(join(tmpdir(), 'prometheus-data-'));
    const file = join(folder, 'prometheus.yml');
    await writeFile(file, JSON.stringify(configuration));
    return onRandomPort(async (port) => {
      const address = `127.0.0.1:${port}`;
      const args = [`--config.file=${file}`, `--storage.tsdb.path=${folder}`, `--web.listen-address=${address}`];
      const server = new PrometheusServer(spawn(join(this.#folder, 'prometheus'), args), `http://${address}`, folder);
      await server.started();
      return server;
    });
  }

  remove(): void {
    if (this.#unpacked !== undefined) rmSync(this.#unpacked, { recursive: true });
  }
}

/** A running Prometheus. */
export class PrometheusServer {
  readonly #exited: Promise<unknown>;
  #output = '';

  constructor(
    private readonly child: ChildProcess,
    private readonly url: string,
    private readonly folder: string,
  ) {
    this.#exited = once(child, 'exit');
    child.stderr?.on('data', (chunk: Buffer) => (this.#output += String(chunk)));
  }

  /** @throws PortInUseError; Error with its output if it does not start */
  async started(): Promise<void> {
    await until(() => this.child.exitCode !== null || this.#output.includes('ready to receive web requests'));
    if (this.child.exitCode === null) return;
    throw new (this.#output.includes('address already in use') ? PortInUseError : Error)(this.#output);
  }

  /** Returns the `data` of an answer of its HTTP API. @param call - such as `rules` */
  async ask(call: string): Promise<unknown> {
    const { data } = (await (await fetch(`${this.url}/api/v1/${call}`)).json()) as { data: unknown };
    return data;
  }

  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    await this.#exited;
    await rm(this.folder, { recursive: true });
  }
}
