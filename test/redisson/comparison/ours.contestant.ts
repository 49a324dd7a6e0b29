import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ENVIRONMENT, TYPESCRIPT } from '../../support/run-program.js';
import type { Contestant, Handled, Schedule } from './contestant.js';
import type { Answer, Task } from './ours.protocol.js';

const PROGRAM = fileURLToPath(new URL('./ours.program.ts', import.meta.url));

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** This package, in a Nest application in a process of its own. */
export class OurContestant implements Contestant {
  readonly title = 'this package';
  readonly #waiting = new Map<Answer['id'], Waiting>();
  #requests = 0;

  private constructor(private readonly child: ChildProcess) {
    child.on('message', (answer: Answer) => this.#onAnswer(answer));
    child.on('exit', (code, signal) => this.#onExit(`The process of this package ended (${code ?? signal})`));
  }

  static async start(url: string): Promise<OurContestant> {
    const options = { execArgv: TYPESCRIPT, env: ENVIRONMENT, serialization: 'advanced' } as const;
    const started = new OurContestant(fork(PROGRAM, [url], options));
    await started.#answerTo('ready');
    return started;
  }

  preload(queue: string, count: number): Promise<void> {
    return this.#ask('preload', queue, count);
  }

  open(queue: string): Promise<void> {
    return this.#ask('open', queue);
  }

  offer(queue: string, count: number, callers: number): Promise<number> {
    return this.#ask('offer', queue, count, callers);
  }

  handle(queue: string, count: number, until: number): Promise<Handled[]> {
    return this.#ask('handle', queue, count, until);
  }

  schedule(queue: string, schedule: Schedule): Promise<void> {
    return this.#ask('schedule', queue, schedule);
  }

  close(queue: string): Promise<void> {
    return this.#ask('close', queue);
  }

  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exit = once(this.child, 'exit');
    this.child.disconnect();
    await exit;
  }

  #ask<Result>(task: Task, ...args: unknown[]): Promise<Result> {
    const id = this.#requests++;
    this.child.send({ id, task, args });
    return this.#answerTo(id) as Promise<Result>;
  }

  #answerTo(id: Answer['id']): Promise<unknown> {
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  #onAnswer({ id, result, error }: Answer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new Error(error));
  }

  #onExit(how: string): void {
    for (const { reject } of this.#waiting.values()) reject(new Error(how));
    this.#waiting.clear();
  }
}
