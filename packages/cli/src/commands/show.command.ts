import type { Command } from 'commander';
import type { CommandLine } from '../command-line.js';
import { Refusal } from '../exit-codes.js';
import { fieldsOfHandled, fieldsOfMessage, recordOfMessage } from '../text/message-record.js';

export function addShowCommand(program: Command, commandLine: CommandLine): void {
  program
    .command('show <queue> <id>')
    .description('show a message: its state, its payload and, of a dead letter, its error; or how it was handled')
    .action((queue: string, id: string, _: object, command: Command) =>
      commandLine.look(command, [queue], async ({ producer, report }) => {
        const { can } = await producer.status(queue);
        const message = await producer.find(queue, id, { handled: can.history });
        if (!message) throw noMessage(queue, id);
        report.print(recordOfMessage(message), () =>
          message.state === 'handled' ? fieldsOfHandled(message) : fieldsOfMessage(message),
        );
      }),
    );
}

export function noMessage(queue: string, id: string): Refusal {
  return new Refusal(`Queue '${queue}' has no message '${id}': it was handled or removed, or never offered.`);
}
