import type { Command } from 'commander';
import type { CommandLine } from '../command-line.js';

interface PauseArguments {
  readonly group?: string;
}

export function addPauseCommands(program: Command, commandLine: CommandLine): void {
  program
    .command('pause <queue>')
    .description('pause the handling of a queue, or of one of its groups, in all processes; running handlers finish')
    .option('--group <name>', 'only the messages of this group')
    .action((queue: string, { group }: PauseArguments, command: Command) =>
      commandLine.change(command, queue, async ({ producer, report, ask }) => {
        if (group === undefined) {
          await ask(`Pause queue '${queue}' in all processes`);
          await producer.pause(queue);
          report.print({ queue, paused: true }, () => `Queue '${queue}' is paused.`);
        } else {
          const messages = producer.group(queue, group);
          await ask(`Pause group '${group}' of queue '${queue}' in all processes`);
          await messages.pause();
          report.print({ queue, group, paused: true }, () => `Group '${group}' of queue '${queue}' is paused.`);
        }
      }),
    );
  program
    .command('resume <queue>')
    .description('resume the handling of a paused queue, or of a paused group')
    .option('--group <name>', 'only the messages of this group')
    .action((queue: string, { group }: PauseArguments, command: Command) =>
      commandLine.change(command, queue, async ({ producer, report, ask }) => {
        if (group === undefined) {
          await ask(`Resume queue '${queue}'`);
          await producer.resume(queue);
          report.print({ queue, paused: false }, () => `Queue '${queue}' is resumed.`);
        } else {
          const messages = producer.group(queue, group);
          await ask(`Resume group '${group}' of queue '${queue}'`);
          await messages.resume();
          report.print({ queue, group, paused: false }, () => `Group '${group}' of queue '${queue}' is resumed.`);
        }
      }),
    );
}
