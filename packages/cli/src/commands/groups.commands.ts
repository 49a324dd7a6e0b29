import { type Command, InvalidArgumentError } from 'commander';
import type { CommandLine } from '../command-line.js';
import { tableOf } from '../text/table.js';
import { wholeNumber } from './list.command.js';

type Concurrency = number | 'unlimited' | 'default';

const MAX_CONCURRENCY = 1_000_000;

export function addGroupsCommands(program: Command, commandLine: CommandLine): void {
  program
    .command('groups <queue>')
    .description(
      'list the groups that have the longest backlogs or settings of their own, and the messages that hold their permits',
    )
    .option('--limit <number>', 'how many groups, 1–1000', wholeNumber, 20)
    .action((queue: string, { limit }: { limit: number }, command: Command) =>
      commandLine.look(command, [queue], async ({ producer, report }) => {
        const { groups, total, isComplete } = await producer.groups(queue, { limit });
        report.print([...groups.map((group) => ({ queue, ...group })), { queue, total, isComplete }], () => [
          ...tableOf(
            ['group', 'waiting', 'permits', 'concurrency', 'paused', 'held by'],
            groups.map(({ group, waiting, holding, concurrency = 'default', paused, holders }) => [
              ...[group, waiting, holding, concurrency, paused ? 'yes' : 'no'],
              holders.join(', '),
            ]),
          ),
          ...(total > groups.length ? [`${groups.length} of ${total} groups`] : []),
          ...(isComplete ? [] : ['There are too many groups to examine all of them: others may have longer backlogs']),
        ]);
      }),
    );
  program
    .command('group-concurrency')
    .description('set how many messages of a group all processes together handle at once')
    .argument('<queue>')
    .argument('<group>')
    .argument('<concurrency>', "1–1,000,000, 'unlimited', or 'default' for that of the queue's groups", readConcurrency)
    .action((queue: string, group: string, concurrency: Concurrency, _: object, command: Command) =>
      commandLine.change(command, queue, async ({ producer, report, ask }) => {
        const messages = producer.group(queue, group);
        await ask(`Set the concurrency of group '${group}' of queue '${queue}' to ${concurrency}`);
        await messages.setConcurrency(concurrency);
        report.print(
          { queue, group, concurrency },
          () => `The concurrency of group '${group}' of queue '${queue}' is now ${concurrency}.`,
        );
      }),
    );
}

function readConcurrency(text: string): Concurrency {
  if (text === 'unlimited' || text === 'default') return text;
  const concurrency = Number(text);
  if (/^\d+$/.test(text) && concurrency >= 1 && concurrency <= MAX_CONCURRENCY) return concurrency;
  throw new InvalidArgumentError("Give a whole number from 1 to 1,000,000, 'unlimited' or 'default'.");
}
