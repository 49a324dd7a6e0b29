import type { Command } from 'commander';
import type { DeadLetter } from 'nestjs-delay-queue';
import type { InspectedQueue } from 'nestjs-delay-queue/diagnosis';
import type { CommandLine } from '../command-line.js';
import { readDuration } from '../duration.js';
import { WrongUsage } from '../exit-codes.js';
import type { Report } from '../report.js';
import { untilInterrupted } from '../tail/interruption.js';
import { type QueueNews, type TailListener, tailQueue } from '../tail/tail.js';
import type { Terminal } from '../terminal.js';
import { counted } from '../text/counted.js';
import { errorText, recordOfMessage } from '../text/message-record.js';
import { printable } from '../text/printable.js';

/** Maximum number of ids that a line names. */
const NAMED = 5;

export function addTailCommand(program: Command, commandLine: CommandLine): void {
  program
    .command('tail <queues...>')
    .description('print what falls due in queues, and each new dead letter with its error, until Ctrl-C')
    .option('--every <duration>', 'how often to poll', '1s')
    .action((queues: string[], { every }: { every: string }, command: Command) => {
      const interval = readInterval(every);
      return commandLine.look(command, queues, (run) =>
        untilInterrupted(async (signal) => {
          const listener = new TailPrinter(run.report, commandLine.terminal.problems);
          await Promise.all(queues.map((queue) => tailQueue({ run, queue, every: interval, listener, signal })));
        }),
      );
    });
}

/** @throws WrongUsage */
function readInterval(every: string): number {
  const interval = readDuration(every, '--every');
  if (interval >= 100 && interval <= 3_600_000) return interval;
  throw new WrongUsage(`--every must be between 100 ms and 3600000 ms, not '${every}'`);
}

/** Prints events with the time of Redis in front. */
class TailPrinter implements TailListener {
  constructor(
    private readonly report: Report,
    private readonly problems: Terminal['problems'],
  ) {}

  onStart(queue: string, { counts, paused, now: at }: InspectedQueue): void {
    const { delayed, ready, active, dead } = counts;
    const counted = `${delayed} delayed, ${ready} ready, ${active} active, ${dead} dead${paused ? ', paused' : ''}`;
    this.report.print({ event: 'start', queue, at, ...counts, paused }, () => lineOf(at, queue, counted));
  }

  onNews({ queue, now, due, dead }: QueueNews): void {
    if (due) {
      const { ids, atLeast } = due;
      const names = ids.slice(0, NAMED).join(', ') + (ids.length > NAMED ? ', …' : '');
      const text = `due   ${ids.length}${atLeast ? ' or more' : ''}: ${names}`;
      this.report.print({ event: 'due', queue, at: now, count: ids.length, atLeast, ids }, () =>
        lineOf(now, queue, text),
      );
    }
    for (const letter of dead) this.#onDead(letter);
  }

  onTrouble(problem: string): void {
    this.problems.write(`${printable(problem)} Still trying.\n`);
  }

  onRecovery(): void {
    this.problems.write('Redis answers again.\n');
  }

  #onDead(letter: DeadLetter): void {
    const { queue, id, diedAt, failedAttempts, error } = letter;
    const text = `dead  ${id} after ${counted(failedAttempts, 'failed attempt')}: ${errorText(error)}`;
    this.report.print({ event: 'dead', ...recordOfMessage(letter) }, () => lineOf(diedAt, queue, text));
  }
}

const lineOf = (at: Date, queue: string, text: string) => `${at.toISOString()}  ${queue}  ${text}`;
