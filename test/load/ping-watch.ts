import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Distribution } from '../../bench/src/measure/percentiles.js';
import { ENVIRONMENT, TYPESCRIPT } from '../support/run-program.js';

const PROGRAM = fileURLToPath(new URL('./ping-probe.program.ts', import.meta.url));

/** Runs a probe for each server in another process, which nothing else keeps busy. */
export class PingWatch {
  private constructor(
    private readonly child: ReturnType<typeof spawnProbe>,
    private readonly output: Interface,
  ) {}

  static async start(...urls: string[]): Promise<PingWatch> {
    const child = spawnProbe(urls);
    const watch = new PingWatch(child, createInterface(child.stdout));
    await watch.#line();
    return watch;
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** @returns how long each server took to answer, ms, in the order of their URLs */
  async stop(): Promise<Distribution[]> {
    const exited = once(this.child, 'exit');
    this.child.stdin.end();
    const report = await this.#line();
    await exited;
    return JSON.parse(report) as Distribution[];
  }

  async #line(): Promise<string> {
    const [line] = (await once(this.output, 'line')) as [string];
    return line;
  }
}

function spawnProbe(urls: readonly string[]) {
  return spawn(process.execPath, [...TYPESCRIPT, PROGRAM, ...urls], {
    env: ENVIRONMENT,
    // Ends with this process, because its input does.
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}
