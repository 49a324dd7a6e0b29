import type { Command } from 'commander';
import type { CommandLine } from '../command-line.js';
import { Refusal } from '../exit-codes.js';

export function addFreeIdCommand(program: Command, commandLine: CommandLine): void {
  program
    .command('free-id <queue> <id>')
    .description('free an id that the queue keeps because its message was handled (option idsFor)')
    .action((queue: string, id: string, _: object, command: Command) =>
      commandLine.change(command, queue, async ({ producer, report, ask }) => {
        await ask(`Free id '${id}' of queue '${queue}'`);
        if (!(await producer.freeId(queue, id))) throw new Refusal(`Queue '${queue}' does not keep the id '${id}'.`);
        report.print({ queue, id, freed: true }, () => `Freed '${id}'.`);
      }),
    );
}
