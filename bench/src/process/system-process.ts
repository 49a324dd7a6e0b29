import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Answer, ProcessSettings } from './protocol.js';
import type { ConsumerTasks, OwnTasks, ProducerTasks } from './tasks.js';

const PROGRAM = fileURLToPath(new URL('./main.js', import.meta.url));

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A process that runs one system, as its parent sees it. */
export class SystemProcess {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<Answer['id'], Waiting>();
  #requests = 0;

  private constructor(settings: ProcessSettings, nodeOptions: readonly string[]) {
    this.#child = fork(PROGRAM, [JSON.stringify(settings)], {
      execArgv: [...nodeOptions],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      // In a process group of its own, which includes a program that the system starts.
      detached: true,
    });
    this.#child.on('message', (answer: Answer) => this.#onAnswer(answer));
    const name = `${settings.system} ${settings.role}`;
    this.#child.on('exit', (code, signal) => this.#failAll(`The process of ${name} ended: ${code ?? signal}`));
    // For example when a task is sent to a process that has ended.
    this.#child.on('error', (error) => this.#failAll(`The process of ${name}: ${error.message}`));
  }

  /** Starts it, and waits until it takes tasks. */
  static async start(settings: ProcessSettings, nodeOptions: readonly string[] = []): Promise<SystemProcess> {
    const started = new SystemProcess(settings, nodeOptions);
    await started.#answerTo('ready');
    return started;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  ask<Task extends keyof OwnTasks>(task: Task): ReturnType<OwnTasks[Task]>;
  ask<Task extends keyof ProducerTasks>(
    task: Task,
    work: Parameters<ProducerTasks[Task]>[0],
  ): ReturnType<ProducerTasks[Task]>;
  ask<Task extends keyof ConsumerTasks>(
    task: Task,
    ...work: Parameters<ConsumerTasks[Task]>
  ): ReturnType<ConsumerTasks[Task]>;
  ask(task: string, work?: unknown): Promise<unknown> {
    const id = this.#requests++;
    this.#child.send({ id, task, work });
    return this.#answerTo(id);
  }

  /** Kills it, and what it has started: nothing it holds is needed any more. */
  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    process.kill(-this.#child.pid!, 'SIGKILL');
    await exit;
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

  #failAll(why: string): void {
    for (const { reject } of this.#waiting.values()) reject(new Error(why));
    this.#waiting.clear();
  }
}
