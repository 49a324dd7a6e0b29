import type { Command } from 'commander';
import type { DeadLetterError, DelayQueueProducer } from 'nestjs-delay-queue';
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

/** Adds up the pages, which go from the oldest dead letters to the latest. */
async function allErrors(producer: DelayQueueProducer, queue: string) {
  const byKind = new Map<string, DeadLetterError>();
  const missing = new Set<number>();
  let cursor: string | undefined;
  do {
    const page = await producer.deadLetters(queue).byError({ cursor });
    for (const error of page.errors) {
      const key = `${error.frame}\n${error.name}`;
      const { count = 0, firstAt = error.firstAt } = byKind.get(key) ?? {};
      byKind.set(key, { ...error, count: count + error.count, firstAt });
    }
    page.missing?.forEach((partition) => missing.add(partition));
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
  const errors = [...byKind.values()].sort((one, other) => other.count - one.count);
  return { errors, missing: [...missing] };
}
