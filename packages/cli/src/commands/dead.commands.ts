import type { Command } from 'commander';
import type { DeadLetters } from 'nestjs-delay-queue';
import type { CommandLine } from '../command-line.js';
import { Refusal, WrongUsage } from '../exit-codes.js';
import { counted } from '../text/counted.js';
import {
  addMatchingOptions,
  changeMatching,
  type MatchingAction,
  type MatchingArguments,
  refuseFilter,
} from './matching.js';

interface DeadArguments extends MatchingArguments {
  readonly all: boolean;
}

interface DeadAction {
  readonly name: 'redrive' | 'discard';
  readonly description: string;
  /** The beginning of a sentence that says what was done. */
  readonly done: string;
  readonly one: (letters: DeadLetters, id: string) => Promise<boolean>;
  readonly all: (letters: DeadLetters) => Promise<number>;
}

const ACTIONS: readonly DeadAction[] = [
  {
    name: 'redrive',
    description: 'make a dead letter due now, with all its attempts, all dead letters of a queue, or all that match',
    done: 'Redriven',
    one: (letters, id) => letters.redrive(id),
    all: (letters) => letters.redriveAll(),
  },
  {
    name: 'discard',
    description: 'remove a dead letter for good, all dead letters of a queue, or all that match',
    done: 'Discarded',
    one: (letters, id) => letters.discard(id),
    all: (letters) => letters.discardAll(),
  },
];

export function addDeadCommands(program: Command, commandLine: CommandLine): void {
  for (const action of ACTIONS) {
    const command = program
      .command(`${action.name} <queue> [id]`)
      .description(action.description)
      .option('--all', 'all dead letters of the queue', false);
    addMatchingOptions(command).action(
      (queue: string, id: string | undefined, { all, ...args }: DeadArguments, command: Command) => {
        refuseFilter(args);
        if ([id !== undefined, all, args.matching].filter(Boolean).length !== 1) {
          const { name } = action;
          throw new WrongUsage(`Say which: ${name} <queue> <id>, ${name} <queue> --all, or ${name} <queue> --matching`);
        }
        if (args.matching) return changeMatching(commandLine, command, { queue, args }, matchingAction(action));
        return id === undefined
          ? applyToAll(commandLine, command, queue, action)
          : applyToOne(commandLine, command, { queue, id }, action);
      },
    );
  }
}

function matchingAction({ name, done }: DeadAction): MatchingAction {
  return { state: 'dead', name: capitalised(name), done, apply: (messages, options) => messages[name](options) };
}

function applyToOne(
  commandLine: CommandLine,
  command: Command,
  { queue, id }: { queue: string; id: string },
  { name, done, one }: DeadAction,
): Promise<void> {
  return commandLine.change(command, queue, async ({ producer, report, ask }) => {
    await ask(`${capitalised(name)} dead letter '${id}' of queue '${queue}'`);
    if (!(await one(producer.deadLetters(queue), id))) {
      throw new Refusal(`Queue '${queue}' has no dead letter '${id}'. Nothing was changed.`);
    }
    report.print({ queue, id, [done.toLowerCase()]: 1 }, () => `${done}: '${id}'.`);
  });
}

function applyToAll(
  commandLine: CommandLine,
  command: Command,
  queue: string,
  { name, done, all }: DeadAction,
): Promise<void> {
  return commandLine.change(command, queue, async ({ producer, report, ask }) => {
    const { dead } = await producer.counts(queue);
    await ask(`${capitalised(name)} all ${counted(dead, 'dead letter')} of queue '${queue}'`);
    const count = await all(producer.deadLetters(queue));
    report.print({ queue, [done.toLowerCase()]: count }, () => `${done}: ${count}.`);
  });
}

const capitalised = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
