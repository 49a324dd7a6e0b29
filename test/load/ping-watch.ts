import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ENVIRONMENT, TYPESCRIPT } from '../support/run-program.js';

/** How long a server took to answer, ms. */
export interface PingTimes {
  readonly pings: number;
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
}

const PROGRAM = fileURLToPath(new URL('./ping-probe.ts', import.meta.url));

/** Watches from a process of its own how soon servers answer PING. */
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

  /** @returns the times of each server, in the order of their URLs */
  async stop(): Promise<PingTimes[]> {
    const exited = once(this.child, 'exit');
    this.child.stdin.end();
    const report = await this.#line();
    await exited;
    return JSON.parse(report) as PingTimes[];
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
