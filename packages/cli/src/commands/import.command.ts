import { type FileHandle, open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { type Command, Option } from 'commander';
import type { ImportOptions } from 'nestjs-delay-queue/export';
import type { ChangingRun, CommandLine, Run } from '../command-line.js';
import { WrongUsage } from '../exit-codes.js';
import type { Terminal } from '../terminal.js';
import { counted } from '../text/counted.js';
import { wholeNumber } from './list.command.js';

interface ImportArguments {
  readonly onDuplicate: NonNullable<ImportOptions['onDuplicate']>;
  readonly dryRun: boolean;
  readonly perSecond?: number;
}

export function addImportCommand(program: Command, commandLine: CommandLine): void {
  program
    .command('import <queue> [file]')
    .description('write what `export` has printed into a queue, from a file or from standard input')
    .addOption(
      new Option('--on-duplicate <what>', 'what to do with a message whose id is in use')
        .choices(['keep', 'replace', 'reject'])
        .default('keep'),
    )
    .option('--dry-run', 'check all lines, and write nothing', false)
    .option('--per-second <number>', 'how many messages to write in a second, at most', wholeNumber)
    .action(async (queue: string, file: string | undefined, args: ImportArguments, command: Command) => {
      if (file === undefined && commandLine.terminal.input.isTTY)
        throw new WrongUsage(
          `Give a file: import ${queue} ${queue}.ndjson, or import ${queue} --yes < ${queue}.ndjson`,
        );
      const handle = file === undefined ? undefined : await openFile(file);
      try {
        const lines = linesOf(commandLine.terminal, handle);
        if (args.dryRun) await commandLine.reach(command, queue, (run) => check(run, queue, { lines, args }));
        else await commandLine.fill(command, queue, (run) => write(run, queue, { lines, args }));
      } finally {
        await handle?.close();
      }
    });
}

interface Import {
  readonly lines: AsyncIterable<string>;
  readonly args: ImportArguments;
}

async function check({ exporter, report }: Run, queue: string, { lines, args }: Import): Promise<void> {
  const checked = await exporter.importQueue(queue, lines, args);
  const { messages, digest } = checked;
  report.print({ queue, ...checked }, () => [
    `All lines can be imported: ${counted(messages, 'message')}. Nothing was written.`,
    `Digest of the export: ${digest}`,
  ]);
}

async function write({ exporter, report, ask }: ChangingRun, queue: string, { lines, args }: Import): Promise<void> {
  await ask(`Import into queue '${queue}'`);
  const imported = await exporter.importQueue(queue, lines, args);
  const { created, kept, replaced, entries, ids, dropped, digest } = imported;
  report.print({ queue, ...imported }, () => [
    `Imported into queue '${queue}': ${created} new, ${replaced} replaced, ${kept} left out.`,
    ...(entries + ids + dropped > 0
      ? [`History: ${entries} new. Kept ids: ${ids} new. Of both, ${dropped} dropped.`]
      : []),
    `Digest of the export: ${digest}`,
  ]);
}

/** @throws WrongUsage */
async function openFile(file: string): Promise<FileHandle> {
  try {
    return await open(file);
  } catch (error) {
    throw new WrongUsage(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** Starts to read only when the lines are taken: those that come earlier would be lost. */
async function* linesOf({ input }: Terminal, file: FileHandle | undefined): AsyncGenerator<string> {
  if (file) {
    yield* file.readLines({ autoClose: false });
    return;
  }
  try {
    yield* createInterface({ input });
  } finally {
    // After a failure, whoever writes to it may keep it open, and with it this process.
    input.destroy();
  }
}
