import type { Command } from 'commander';
import type { CommandLine } from '../command-line.js';

export function addPauseCommands(program: Command, commandLine: CommandLine): void {
  program
    .command('pause <queue>')
    .description('pause the handling of a queue in all processes; running handlers finish')
    .action((queue: string, _: object, command: Command) =>
      commandLine.change(command, queue, async ({ producer, report, ask }) => {
        await ask(`Pause queue '${queue}' in all processes`);
        await producer.pause(queue);
        report.print({ queue, paused: true }, () => `Queue '${queue}' is paused.`);
      }),
    );
  program
    .command('resume <queue>')
    .description('resume the handling of a paused queue')
    .action((queue: string, _: object, command: Command) =>
      commandLine.change(command, queue, async ({ producer, report, ask }) => {
        await ask(`Resume queue '${queue}'`);
        await producer.resume(queue);
        report.print({ queue, paused: false }, () => `Queue '${queue}' is resumed.`);
      }),
    );
}
