import type { Command } from 'commander';
import type { DelayQueueProducer } from 'nestjs-delay-queue';
import type { CommandLine } from '../command-line.js';
import { readDuration } from '../duration.js';
import { Refusal, WrongUsage } from '../exit-codes.js';
import { counted } from '../text/counted.js';
import {
  addMatchingOptions,
  changeMatching,
  type MatchingAction,
  type MatchingArguments,
  refuseFilter,
} from './matching.js';
import { noMessage } from './show.command.js';

const WAYS_TO_CANCEL = 'Say which: cancel <queue> <id>, cancel <queue> --group <name>, or cancel <queue> --matching';

export function addDelayedCommands(program: Command, commandLine: CommandLine): void {
  const cancelCommand = program
    .command('cancel <queue> [id]')
    .description('remove a delayed message, all delayed messages of a group, or all that match')
    .option('--group <name>', 'all delayed messages of the group');
  addMatchingOptions(cancelCommand).action(
    (queue: string, id: string | undefined, { group, ...args }: MatchingArguments, command: Command) => {
      const named = [id, group].filter((name) => name !== undefined).length;
      if (args.matching && id === undefined) {
        return changeMatching(commandLine, command, { queue, args: { ...args, group } }, CANCEL);
      }
      refuseFilter(args);
      if (args.matching || named !== 1) throw new WrongUsage(WAYS_TO_CANCEL);
      return id === undefined
        ? cancelGroup(commandLine, command, { queue, group: group! })
        : cancel(commandLine, command, { queue, id });
    },
  );
  program
    .command('abort <queue> <id>')
    .description('stop and remove a message that is being handled')
    .action((queue: string, id: string, _: object, command: Command) =>
      commandLine.change(command, queue, async ({ producer, report, ask }) => {
        await ask(`Abort message '${id}' of queue '${queue}'`);
        if (!(await producer.abort(queue, id))) throw await notActive(producer, queue, id);
        report.print({ queue, id, aborted: true }, () => `Aborted '${id}'.`);
      }),
    );
  const rescheduleCommand = program
    .command('reschedule <queue> <id> [delay]')
    .usage('[options] <queue> <id> <delay>, or <queue> <delay> --matching')
    .description(
      "make a delayed message, or all that match, fall due after another delay from now, such as '15m' or 0",
    );
  addMatchingOptions(rescheduleCommand).action(
    (queue: string, id: string, delay: string | undefined, args: MatchingArguments, command: Command) => {
      if (args.matching === (delay !== undefined)) {
        throw new WrongUsage('Say which: reschedule <queue> <id> <delay>, or reschedule <queue> <delay> --matching');
      }
      if (delay === undefined) return rescheduleMatching(commandLine, command, { queue, delay: id, args });
      refuseFilter(args);
      return reschedule(commandLine, command, { queue, id, delay });
    },
  );
}

const CANCEL = {
  state: 'delayed',
  name: 'Cancel',
  done: 'Cancelled',
  apply: (messages, options) => messages.cancel(options),
} satisfies MatchingAction;

function rescheduleMatching(
  commandLine: CommandLine,
  command: Command,
  { queue, delay, args }: { queue: string; delay: string; args: MatchingArguments },
): Promise<void> {
  const after = readDuration(delay, 'delay');
  return changeMatching(
    commandLine,
    command,
    { queue, args },
    {
      state: 'delayed',
      name: 'Reschedule',
      done: 'Rescheduled',
      apply: (messages, options) => messages.reschedule(after, options),
    },
  );
}

function reschedule(
  commandLine: CommandLine,
  command: Command,
  { queue, id, delay }: { queue: string; id: string; delay: string },
): Promise<void> {
  const after = readDuration(delay, 'delay');
  return commandLine.change(command, queue, async ({ producer, report, ask }) => {
    await ask(`Make message '${id}' of queue '${queue}' fall due in ${delay}`);
    if (!(await producer.reschedule(queue, id, after))) throw await notDelayed(producer, queue, id);
    report.print({ queue, id, rescheduled: true }, () => `'${id}' falls due in ${delay}.`);
  });
}

function cancel(
  commandLine: CommandLine,
  command: Command,
  { queue, id }: { queue: string; id: string },
): Promise<void> {
  return commandLine.change(command, queue, async ({ producer, report, ask }) => {
    await ask(`Cancel message '${id}' of queue '${queue}'`);
    if (!(await producer.cancel(queue, id))) throw await notDelayed(producer, queue, id);
    report.print({ queue, id, cancelled: true }, () => `Cancelled '${id}'.`);
  });
}

function cancelGroup(
  commandLine: CommandLine,
  command: Command,
  { queue, group }: { queue: string; group: string },
): Promise<void> {
  return commandLine.change(command, queue, async ({ producer, report, ask }) => {
    const messages = producer.group(queue, group);
    const { delayed } = await messages.counts();
    await ask(`Cancel ${counted(delayed, 'message')} of group '${group}' of queue '${queue}'`);
    const cancelled = await messages.cancelAll();
    report.print({ queue, group, cancelled }, () => `Cancelled: ${cancelled}.`);
  });
}

async function notActive(producer: DelayQueueProducer, queue: string, id: string): Promise<Refusal> {
  const message = await producer.find(queue, id);
  if (!message) return noMessage(queue, id);
  return new Refusal(`Message '${id}' is not active, but ${message.state}. Nothing was changed.`);
}

async function notDelayed(producer: DelayQueueProducer, queue: string, id: string): Promise<Refusal> {
  const message = await producer.find(queue, id);
  if (!message) return noMessage(queue, id);
  const advice = message.state === 'dead' ? ': redrive or discard it' : ': it is too late';
  return new Refusal(`Message '${id}' is not delayed, but ${message.state}${advice}. Nothing was changed.`);
}
