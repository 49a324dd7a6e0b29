import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RedisBinary } from '../../../test/support/redis/redis-process.js';
import { onRandomPort, PortInUseError } from '../../../test/support/redis/random-port.js';
import type { Server } from '../adapters/adapter.js';

/** A server whose instructions valgrind counts. */
export class CountedRedis {
  #output = '';

  private constructor(
    readonly server: Server,
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {
    const collect = (data: Buffer) => (this.#output += String(data));
    child.stdout!.on('data', collect);
    child.stderr!.on('data', collect);
  }

  static start(binary: RedisBinary): Promise<CountedRedis> {
    return onRandomPort(async (port) => {
      const folder = mkdtempSync(join(tmpdir(), 'counted-redis-'));
      // It knows its role by the name that it is called by, and valgrind calls it by the name of its file.
      const program = join(folder, binary.name);
      symlinkSync(binary.path, program);
      const counter = ['--tool=callgrind', `--callgrind-out-file=${join(folder, 'profile')}`];
      const own = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, '--save', ''];
      // Its own ticks would count as work for messages.
      const child = spawn('valgrind', [...counter, program, ...own, '--hz', '1', '--dynamic-hz', 'no']);
      const redis = new CountedRedis({ host: '127.0.0.1', port }, child, folder);
      await redis.#ready();
      return redis;
    });
  }

  /** Stops it. @returns how many instructions it has executed */
  async stop(): Promise<number> {
    const exit = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await exit;
    rmSync(this.folder, { recursive: true });
    const [, count] = /Collected : (\d+)/.exec(this.#output) ?? [];
    if (count === undefined) throw new Error(`valgrind has not counted: ${this.#output}`);
    return Number(count);
  }

  async #ready(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.child.stdout!.on('data', () => this.#output.includes('Ready to accept connections') && resolve());
      this.child.once('error', reject);
      this.child.once('exit', () => {
        rmSync(this.folder, { recursive: true });
        const isTaken = this.#output.includes('Address already in use');
        reject(isTaken ? new PortInUseError(this.#output) : new Error(this.#output));
      });
    });
    this.child.removeAllListeners('exit');
  }
}
