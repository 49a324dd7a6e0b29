import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LastWill } from '../redis/last-will.js';
import { PortInUseError } from '../redis/random-port.js';
import { until } from '../until.js';

const START_TIMEOUT = 60_000;

/** How to run a server of one kind. */
export interface ServerCommand {
  readonly path: string;
  readonly args: (folder: string, port: number) => readonly string[];
  /** The user to run as, where the server refuses to run as root. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** The line in its log when it accepts connections, counted from its last start. */
  readonly ready: RegExp;
  readonly inUse: RegExp;
  /** The processes that die with it in a crash. */
  readonly children: (pid: number) => readonly number[];
}

/** A database server of a test's own: it may crash and come back. It dies with this process at the latest. */
export class DatabaseServer {
  readonly host = '127.0.0.1';
  readonly #lastWill: LastWill;
  #child: ChildProcess | undefined;

  constructor(
    private readonly command: ServerCommand,
    readonly folder: string,
    readonly port: number,
  ) {
    this.#lastWill = new LastWill(folder);
  }

  /** The process id of the running server. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(): Promise<void> {
    const logFile = join(this.folder, 'server.log');
    const log = openSync(logFile, 'w');
    const { path, args, user } = this.command;
    const child = spawn(path, args(this.folder, this.port), { cwd: this.folder, stdio: ['ignore', log, log], ...user });
    closeSync(log);
    child.unref();
    this.#child = child;
    await once(child, 'spawn');
    this.#lastWill.name(child.pid ?? null);
    const said = () => readFileSync(logFile, 'utf8');
    const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
    await until(() => this.command.ready.test(said()) || hasEnded(), { within: START_TIMEOUT, every: 20 });
    if (!hasEnded()) return;
    if (this.command.inUse.test(said())) throw new PortInUseError(said());
    throw new Error(`The database server has ended:\n${said()}`);
  }

  /** Ends it with all its processes at once, as the kernel does when memory is short. */
  async kill9(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Starts it again, on the same port and folder; the ends of its former processes may take a moment. */
  async restart(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.start();
        return;
      } catch (error) {
        if (attempt === 20) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }

  /** Ends it for good and removes its folder. */
  async stop(): Promise<void> {
    await this.#end('SIGKILL');
    await this.#lastWill.execute();
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.ref();
    const children = this.command.children(child.pid);
    child.kill(signal);
    for (const pid of children) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended already.
      }
    }
    await exit;
    this.#child = undefined;
    this.#lastWill.name(null);
  }
}

/** A folder for the data of a server. */
export function newDataFolder(name: string): string {
  return mkdtempSync(join(tmpdir(), `test-${name}-`));
}

/** The processes that a process has started, on Linux. */
export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
