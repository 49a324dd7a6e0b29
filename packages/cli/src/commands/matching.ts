import type { Command } from 'commander';
import type { MatchingMessages, MatchReport, StepOptions } from 'nestjs-delay-queue';
import type { CommandLine } from '../command-line.js';
import { Refusal, WrongUsage } from '../exit-codes.js';
import { addFilterOptions, type FilterArguments, filterOf } from '../filter-arguments.js';
import { untilInterrupted } from '../tail/interruption.js';
import { counted } from '../text/counted.js';

export interface MatchingArguments extends FilterArguments {
  readonly matching: boolean;
}

export interface MatchingAction {
  readonly state: 'delayed' | 'dead';
  /** The question begins with it. */
  readonly name: string;
  /** The beginning of a sentence that says what was done. */
  readonly done: string;
  readonly apply: (messages: MatchingMessages, options: StepOptions) => Promise<MatchReport>;
}

export function addMatchingOptions(command: Command): Command {
  return addFilterOptions(command.option('--matching', 'all messages that the options below select', false));
}

/** @throws WrongUsage if options select messages, but `--matching` does not say that all of them are meant */
export function refuseFilter({ matching, ...filter }: MatchingArguments): void {
  if (matching) return;
  const [option] = Object.keys(filter);
  if (option === undefined) return;
  throw new WrongUsage(`--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} needs --matching`);
}

/** Changes all matching messages of a queue, until Ctrl-C stops it between two steps. */
export function changeMatching(
  commandLine: CommandLine,
  command: Command,
  { queue, args }: { queue: string; args: MatchingArguments },
  { state, name, done, apply }: MatchingAction,
): Promise<void> {
  const filter = filterOf(state, args);
  return commandLine.change(command, queue, async ({ producer, report, warnOfMissing, warnOfEncrypted, ask }) => {
    const messages = producer.matching(queue, filter);
    const { matched, encrypted } = await messages.count();
    warnOfEncrypted(queue, encrypted);
    await ask(`${name} ${counted(matched, 'matching message')} of queue '${queue}'`);
    await untilInterrupted(async (signal) => {
      const { changed, movedOn, isComplete, missing } = await apply(messages, { signal });
      warnOfMissing(queue, missing);
      const record = { queue, [done.toLowerCase()]: changed, movedOn, isComplete };
      const moved = movedOn === 0 ? '' : ` No longer ${state}: ${movedOn}.`;
      report.print(record, () => `${done}: ${changed}.${moved}`);
      if (signal.aborted && !isComplete) throw new Refusal('Stopped. The remaining messages are unchanged.');
    });
  });
}
