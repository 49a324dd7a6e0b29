import type { Command } from 'commander';
import type { DelayQueueProducer } from 'nestjs-delay-queue';
import type { CommandLine } from '../command-line.js';
import { readDuration } from '../duration.js';
import { Refusal } from '../exit-codes.js';
import { noMessage } from './show.command.js';

export function addDelayedCommands(program: Command, commandLine: CommandLine): void {
  program
    .command('cancel <queue> <id>')
    .description('remove a message that is not due yet')
    .action((queue: string, id: string, _: object, command: Command) =>
      commandLine.change(command, queue, async ({ producer, report, ask }) => {
        await ask(`Cancel message '${id}' of queue '${queue}'`);
        if (!(await producer.cancel(queue, id))) throw await notDelayed(producer, queue, id);
        report.print({ queue, id, cancelled: true }, () => `Cancelled '${id}'.`);
      }),
    );
  program
    .command('abort <queue> <id>')
    .description('stop a message that is being handled, and remove it')
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
