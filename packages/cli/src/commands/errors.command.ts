import type { Command } from 'commander';
import type { DeadLetterErrorPage, DelayQueueProducer } from 'nestjs-delay-queue';
import { mergeErrors } from 'nestjs-delay-queue/diagnosis';
import type { CommandLine } from '../command-line.js';
import { tableOf } from '../text/table.js';

export function addErrorsCommand(program: Command, commandLine: CommandLine): void {
  program
    .command('errors <queue>')
    .description('count dead letters by their error and its first stack frame; reads all of them')
    .action((queue: string, _: object, command: Command) =>
      commandLine.look(command, [queue], async ({ producer, report, warnOfMissing }) => {
        const { errors, missing } = await allErrors(producer, queue);
        warnOfMissing(queue, missing);
        report.print(
          errors.map((error) => ({ queue, ...error })),
          () =>
            tableOf(
              ['count', 'error', 'frame', 'last', 'example', 'message'],
              errors.map(({ count, name, frame, lastAt, example, message }) => [
                ...[count, name, frame, lastAt.toISOString(), example, message],
              ]),
            ),
        );
      }),
    );
}

async function allErrors(producer: DelayQueueProducer, queue: string) {
  const errors: DeadLetterErrorPage['errors'][number][] = [];
  const missing = new Set<number>();
  let cursor: string | undefined;
  do {
    const page = await producer.deadLetters(queue).byError({ cursor });
    errors.push(...page.errors);
    page.missing?.forEach((partition) => missing.add(partition));
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
  return { errors: mergeErrors(errors), missing: [...missing] };
}
