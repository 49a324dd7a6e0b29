import type { Command } from 'commander';
import type { DelayQueueProducer } from 'nestjs-delay-queue';
import { assertQueueName, type InspectedQueue } from 'nestjs-delay-queue/diagnosis';
import type { DelayQueueExporter } from 'nestjs-delay-queue/export';
import { Approval } from './approval.js';
import { type CommonArguments, moduleOptionsOf, serverOf } from './connection-arguments.js';
import { assertExists } from './queue-names.js';
import { Report } from './report.js';
import { Session } from './session.js';
import type { Terminal } from './terminal.js';
import { counted } from './text/counted.js';

/** The services of a running command. */
export interface Run {
  readonly producer: DelayQueueProducer;
  readonly report: Report;
  /** Warns if partitions of a queue did not answer. */
  readonly warnOfMissing: (queue: string, missing: readonly number[] | undefined) => void;
  /** Warns if messages could not be searched for a text. */
  readonly warnOfEncrypted: (queue: string, count: number | undefined) => void;
  readonly exporter: DelayQueueExporter;
  /** Returns counts, due times and the time of Redis at one instant. */
  readonly inspect: (queue: string) => Promise<InspectedQueue>;
}

/** The services of a running command that changes servers. */
export interface ServerRun {
  readonly args: CommonArguments;
  readonly report: Report;
  /** Asks before the change. Rejects unless the answer is yes. */
  readonly ask: (question: string) => Promise<void>;
}

/** The services of a running command that changes a queue. */
export interface ChangingRun extends Run {
  /** Asks before the change. Rejects unless the answer is yes. */
  readonly ask: (question: string) => Promise<void>;
}

/** Runs commands, each with a connection to Redis of its own. */
export class CommandLine {
  constructor(readonly terminal: Terminal) {}

  /** Runs a command that only reads. @param queues - the queues that it names; one that never existed is refused */
  async look(command: Command, queues: readonly string[], use: (run: Run) => Promise<void>): Promise<void> {
    const { prefix } = command.optsWithGlobals<CommonArguments>();
    await this.#connect(command, queues, async (run) => {
      for (const queue of queues) await assertExists(queue, run, prefix);
      await use(run);
    });
  }

  /** Runs a command that only reads, for a queue that need not exist. */
  async reach(command: Command, queue: string, use: (run: Run) => Promise<void>): Promise<void> {
    await this.#connect(command, [queue], use);
  }

  async #connect(command: Command, queues: readonly string[], use: (run: Run) => Promise<void>): Promise<void> {
    const args = command.optsWithGlobals<CommonArguments>();
    for (const queue of queues) assertQueueName(queue);
    const session = await Session.open(await moduleOptionsOf(args, queues), serverOf(args));
    try {
      const inspect = (queue: string) => session.inspect(queue);
      const warnOfMissing = (queue: string, missing: readonly number[] = []) => this.#warnOfMissing(queue, missing);
      const warnOfEncrypted = (queue: string, count = 0) => this.#warnOfEncrypted(queue, count);
      const warn = { warnOfMissing, warnOfEncrypted };
      const { producer, exporter } = session;
      await use({ producer, exporter, report: this.reportFor(args), ...warn, inspect });
    } finally {
      await session.close();
    }
  }

  /** Runs a command that changes a queue, if somebody agrees. */
  async change(command: Command, queue: string, use: (run: ChangingRun) => Promise<void>): Promise<void> {
    const ask = this.#askerFor(command.optsWithGlobals<CommonArguments>());
    await this.look(command, [queue], (run) => use({ ...run, ask }));
  }

  /** Runs a command that adds messages to a queue, which need not exist, if somebody agrees. */
  async fill(command: Command, queue: string, use: (run: ChangingRun) => Promise<void>): Promise<void> {
    const ask = this.#askerFor(command.optsWithGlobals<CommonArguments>());
    await this.reach(command, queue, (run) => use({ ...run, ask }));
  }

  /** Runs a command that changes the servers themselves, if somebody agrees. */
  async changeServers(command: Command, use: (run: ServerRun) => Promise<void>): Promise<void> {
    const args = command.optsWithGlobals<CommonArguments>();
    await use({ args, report: this.reportFor(args), ask: this.#askerFor(args) });
  }

  /** @throws Refusal if nobody has agreed, or can be asked */
  #askerFor(args: CommonArguments): (question: string) => Promise<void> {
    const approval = new Approval(this.terminal, args.yes);
    approval.assertPossible();
    return (what) => approval.ask(`${what} on ${serverOf(args)}?`);
  }

  #warnOfMissing(queue: string, missing: readonly number[]): void {
    if (missing.length === 0) return;
    const text = `Incomplete: partitions do not answer: ${queue} (${missing.join(', ')})`;
    this.terminal.problems.write(`${text}\n`);
  }

  #warnOfEncrypted(queue: string, count: number): void {
    if (count === 0) return;
    const text = `Not searched, because encrypted: ${counted(count, 'message')} of ${queue}; give the keys with --encryption`;
    this.terminal.problems.write(`${text}\n`);
  }

  reportFor({ json }: CommonArguments): Report {
    return new Report(this.terminal.output, json);
  }
}
