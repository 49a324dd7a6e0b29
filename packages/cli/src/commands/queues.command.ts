import type { Command } from 'commander';
import type { CommandLine } from '../command-line.js';
import { pagesOfQueues } from '../queue-names.js';

export function addQueuesCommand(program: Command, commandLine: CommandLine): void {
  program
    .command('queues')
    .description('list the queues that have ever been offered to or handled')
    .action((_, command: Command) =>
      commandLine.look(command, [], async ({ producer, report }) => {
        for await (const page of pagesOfQueues(producer)) {
          report.print(
            page.map((queue) => ({ queue })),
            () => page,
          );
        }
      }),
    );
}
