import type { Command } from 'commander';
import type { DelayQueueProducer } from '../../producer/delay-queue.producer.js';
import type { CommandLine } from '../command-line.js';
import { printable } from '../text/printable.js';

const PAGE = 1000;

export function addQueuesCommand(program: Command, commandLine: CommandLine): void {
  program
    .command('queues')
    .description('list the queues that were ever offered to or handled')
    .action((_, command: Command) =>
      commandLine.look(command, [], async ({ producer, report }) => {
        for await (const page of pagesOfQueues(producer)) {
          report.print(
            page.map((queue) => ({ queue })),
            () => page.map(printable),
          );
        }
      }),
    );
}

export async function* pagesOfQueues(producer: DelayQueueProducer): AsyncGenerator<readonly string[]> {
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await producer.queues({ limit: PAGE, ...(cursor !== undefined && { cursor }) });
    yield page.queues;
    cursor = page.cursor;
  }
}
