import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { keepProcess } from '../store/keeper.js';

const PROGRAM = fileURLToPath(new URL('../worker.js', import.meta.url));
const START_TIMEOUT = 20_000;

/** A process of the shop that only packs parcels. */
export class WorkerProcess {
  private constructor(
    readonly pid: number,
    private readonly keeper: ChildProcess,
  ) {}

  /** Resolves when the process is ready to take parcels. */
  static async start(redisUrl: string): Promise<WorkerProcess> {
    const keeper = keepProcess([process.execPath, PROGRAM], {
      env: { ...process.env, REDIS_URL: redisUrl },
      stdout: 'pipe',
      // It may be frozen, and then reacts to nothing else.
      signal: 'KILL',
    });
    const lines = createInterface({ input: keeper.stdout! });
    const signal = AbortSignal.timeout(START_TIMEOUT);
    const ended = once(keeper, 'exit', { signal }).then(() => {
      throw new Error('The worker did not start');
    });
    // Its first line is its process id.
    const [line] = (await Promise.race([once(lines, 'line', { signal }), ended])) as [string];
    return new WorkerProcess(Number(line), keeper);
  }

  freeze(): void {
    this.#send('SIGSTOP');
  }

  thaw(): void {
    this.#send('SIGCONT');
  }

  async end(): Promise<void> {
    if (this.#hasEnded) return;
    const ended = once(this.keeper, 'exit');
    this.#send('SIGKILL');
    await ended;
  }

  get #hasEnded(): boolean {
    return this.keeper.exitCode !== null || this.keeper.signalCode !== null;
  }

  #send(signal: NodeJS.Signals): void {
    // By now, its id may belong to another process.
    if (!this.#hasEnded) process.kill(this.pid, signal);
  }
}
