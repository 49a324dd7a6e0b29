import { once } from 'node:events';
import type { Command } from 'commander';
import type { CommandLine } from '../command-line.js';
import type { Terminal } from '../terminal.js';

interface ExportArguments {
  readonly digest?: boolean;
}

/** The last line of an export. */
interface End {
  readonly messages: number;
  readonly digest: string;
  readonly inUse: boolean;
}

export function addExportCommand(program: Command, commandLine: CommandLine): void {
  program
    .command('export <queue>')
    .description('print a whole queue, one JSON document per line, for `import`')
    .option('--digest', 'print only a digest of what would be printed, to compare queues')
    .action((queue: string, { digest = false }: ExportArguments, command: Command) =>
      commandLine.look(command, [queue], async ({ exporter, report }) => {
        const { output, problems } = commandLine.terminal;
        const lines = exporter.exportQueue(queue);
        const end = JSON.parse(await lastOf(lines, digest ? undefined : output)) as End;
        if (digest) report.print({ queue, digest: end.digest, inUse: end.inUse }, () => end.digest);
        if (end.inUse) problems.write(`Queue '${queue}' was in use, so this is not its state at one instant\n`);
      }),
    );
}

/** Prints lines to the output, if there is one, as fast as its reader takes them. @returns the last line */
async function lastOf(lines: AsyncIterable<string>, output?: Terminal['output']): Promise<string> {
  let last = '';
  for await (const line of lines) {
    if (output && !output.write(line)) await once(output, 'drain');
    last = line;
  }
  return last;
}
