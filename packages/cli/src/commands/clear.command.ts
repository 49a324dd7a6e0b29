import type { Command } from 'commander';
import type { CommandLine } from '../command-line.js';

export function addClearCommand(program: Command, commandLine: CommandLine): void {
  program
    .command('clear <queue>')
    .description('remove all messages of a queue, in every state; the outcomes of running handlers no longer count')
    .action((queue: string, _: object, command: Command) =>
      commandLine.change(command, queue, async ({ producer, report, ask }) => {
        const { delayed, ready, active, dead } = await producer.counts(queue);
        await ask(
          `Remove all messages of queue '${queue}': ${delayed} delayed, ${ready} ready, ${active} active, ${dead} dead`,
        );
        const removed = await producer.clear(queue);
        report.print({ queue, removed }, () => `Removed: ${removed}.`);
      }),
    );
}
