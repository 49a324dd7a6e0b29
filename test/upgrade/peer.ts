import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ENVIRONMENT, TYPESCRIPT } from '../support/run-program.js';
import { until } from '../support/until.js';
import type { Call, HandledTask, Line, PeerSettings } from './peer-messages.js';

const PROGRAM = fileURLToPath(new URL('./peer.program.ts', import.meta.url));
const START_TIMEOUT = 90_000;

type Event = HandledTask & { readonly event: 'start' | 'end' };

/** An application in a process of its own, on a given build of the library. */
export class Peer {
  readonly events: Event[] = [];
  readonly #child: ChildProcess;
  readonly #queue: string;
  readonly #answers = new Map<number, (line: Extract<Line, { event: 'answer' }>) => void>();
  #isReady = false;
  #calls = 0;
  #log = '';

  private constructor(settings: PeerSettings) {
    this.#queue = settings.queue;
    // Not compiled before, because the libraries are not.
    const child = spawn(process.execPath, [...TYPESCRIPT, PROGRAM, JSON.stringify(settings)], { env: ENVIRONMENT });
    createInterface(child.stdout).on('line', (line) => this.#read(line));
    child.stderr.on('data', (data) => (this.#log += String(data)));
    this.#child = child;
  }

  static async start(settings: PeerSettings): Promise<Peer> {
    const peer = new Peer(settings);
    await until(() => peer.#isReady || peer.#hasEnded, { within: START_TIMEOUT });
    if (!peer.#isReady) throw new Error(`The process did not start:\n${peer.#log}`);
    return peer;
  }

  get starts(): Event[] {
    return this.events.filter(({ event }) => event === 'start');
  }

  startsOf(id: string): Event[] {
    return this.starts.filter((each) => each.id === id);
  }

  /** Calls a method of its producer. */
  call(method: string, ...args: readonly unknown[]): Promise<unknown> {
    return this.#call({ number: ++this.#calls, on: 'producer', method, args: [this.#queue, ...args] });
  }

  /** Calls a method of the dead letters of its queue. */
  callDead(method: string, ...args: readonly unknown[]): Promise<unknown> {
    return this.#call({ number: ++this.#calls, on: 'deadLetters', method, args });
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.#hasEnded) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill(signal);
    await exit;
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async #call(call: Call): Promise<unknown> {
    const answered = new Promise<Extract<Line, { event: 'answer' }>>((resolve) =>
      this.#answers.set(call.number, resolve),
    );
    this.#child.stdin!.write(`${JSON.stringify(call)}\n`);
    const { result, error } = await answered;
    if (error !== undefined) throw new Error(error);
    return result;
  }

  #read(text: string): void {
    if (!text.startsWith('{"event"')) return void (this.#log += `${text}\n`);
    const line = JSON.parse(text) as Line;
    if (line.event === 'ready') this.#isReady = true;
    else if (line.event === 'answer') this.#answers.get(line.number)!(line);
    else this.events.push(line);
  }
}
