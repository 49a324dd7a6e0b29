import type { Command } from 'commander';
import type { CommandLine } from '../command-line.js';
import { tableOf } from '../text/table.js';
import { wholeNumber } from './list.command.js';

export function addGroupsCommand(program: Command, commandLine: CommandLine): void {
  program
    .command('groups <queue>')
    .description('list the groups with the longest backlogs, and the messages that hold their permits')
    .option('--limit <number>', 'how many groups, 1–1000', wholeNumber, 20)
    .action((queue: string, { limit }: { limit: number }, command: Command) =>
      commandLine.look(command, [queue], async ({ producer, report }) => {
        const { groups, total, isComplete } = await producer.groups(queue, { limit });
        report.print([...groups.map((group) => ({ queue, ...group })), { queue, total, isComplete }], () => [
          ...tableOf(
            ['group', 'waiting', 'permits', 'held by'],
            groups.map(({ group, waiting, holding, holders }) => [group, waiting, holding, holders.join(', ')]),
          ),
          ...(total > groups.length ? [`${groups.length} of ${total} groups`] : []),
          ...(isComplete ? [] : ['There are too many groups to examine all of them: others may have longer backlogs']),
        ]);
      }),
    );
}
