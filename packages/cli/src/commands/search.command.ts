import { Argument, type Command } from 'commander';
import type { MessageSnapshot, MessageState, SearchPage } from 'nestjs-delay-queue';
import type { CommandLine } from '../command-line.js';
import { addFilterOptions, type FilterArguments, filterOf } from '../filter-arguments.js';
import { recordOfMessage } from '../text/message-record.js';
import { STATES, tableOfMessages, wholeNumber } from './list.command.js';

interface SearchArguments extends FilterArguments {
  readonly limit: number;
  readonly cursor?: string;
}

export function addSearchCommand(program: Command, commandLine: CommandLine): void {
  const command = program
    .command('search <queue>')
    .addArgument(new Argument('<state>', 'the state of the messages').choices(STATES))
    .description('find messages in one state; examines one after the other until enough have been found')
    .option('--limit <number>', 'how many messages to find, 1–1000', wholeNumber, 20)
    .option('--cursor <cursor>', 'where the previous search ended');
  addFilterOptions(command).action(
    (queue: string, state: MessageState, { limit, cursor: start, ...args }: SearchArguments, command: Command) => {
      const filter = filterOf(state, args);
      return commandLine.look(command, [queue], async ({ producer, report, warnOfMissing, warnOfEncrypted }) => {
        const messages: MessageSnapshot[] = [];
        const missing = new Set<number>();
        let encrypted = 0;
        let cursor: string | undefined = start;
        do {
          const page: SearchPage = await producer.search(queue, filter, { cursor, limit: limit - messages.length });
          messages.push(...page.messages);
          encrypted += page.encrypted ?? 0;
          page.missing?.forEach((partition) => missing.add(partition));
          cursor = page.cursor ?? undefined;
        } while (cursor !== undefined && messages.length < limit);
        warnOfMissing(queue, [...missing]);
        warnOfEncrypted(queue, encrypted);
        const end = cursor === undefined ? [] : [{ cursor }];
        report.print([...messages.map(recordOfMessage), ...end], () => [
          ...tableOfMessages(state, messages),
          ...end.map((next) => `More: --cursor '${next.cursor}'`),
        ]);
      });
    },
  );
}
