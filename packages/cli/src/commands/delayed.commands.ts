import type { Command } from 'commander';
import type { DelayQueueProducer } from 'nestjs-delay-queue';
import type { CommandLine } from '../command-line.js';
import { readDuration } from '../duration.js';
import { Refusal, WrongUsage } from '../exit-codes.js';
import { counted } from '../text/counted.js';
import { noMessage } from './show.command.js';

export function addDelayedCommands(program: Command, commandLine: CommandLine): void {
  program
    .command('cancel <queue> [id]')
    .description('remove a delayed message, or all delayed messages of a group')
    .option('--group <name>', 'all delayed messages of the group')
    .action((queue: string, id: string | undefined, { group }: { group?: string }, command: Command) => {
      if (id !== undefined && group === undefined) return cancel(commandLine, command, { queue, id });
      if (id === undefined && group !== undefined) return cancelGroup(commandLine, command, { queue, group });
      throw new WrongUsage('Say which: cancel <queue> <id>, or cancel <queue> --group <name>');
    });
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
  program
    .command('reschedule <queue> <id> <delay>')
    .description("make a delayed message fall due after another delay from now, such as '15m' or 0")
    .action((queue: string, id: string, delay: string, _: object, command: Command) => {
      const after = readDuration(delay, 'delay');
      return commandLine.change(command, queue, async ({ producer, report, ask }) => {
        await ask(`Make message '${id}' of queue '${queue}' fall due in ${delay}`);
        if (!(await producer.reschedule(queue, id, after))) throw await notDelayed(producer, queue, id);
        report.print({ queue, id, rescheduled: true }, () => `'${id}' falls due in ${delay}.`);
      });
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
