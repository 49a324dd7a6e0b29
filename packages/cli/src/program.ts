import { Command, CommanderError } from 'commander';
import { DelayQueueError } from 'nestjs-delay-queue';
import { CommandLine } from './command-line.js';
import { addClearCommand } from './commands/clear.command.js';
import { addCountsCommand } from './commands/counts.command.js';
import { addDeadCommands } from './commands/dead.commands.js';
import { addDeleteFunctionsCommand } from './commands/delete-functions.command.js';
import { addDelayedCommands } from './commands/delayed.commands.js';
import { addDoctorCommand } from './commands/doctor.command.js';
import { addErrorsCommand } from './commands/errors.command.js';
import { addExportCommand } from './commands/export.command.js';
import { addFreeIdCommand } from './commands/free-id.command.js';
import { addGroupsCommands } from './commands/groups.commands.js';
import { addHistogramCommand } from './commands/histogram.command.js';
import { addImportCommand } from './commands/import.command.js';
import { addLimitsCommands } from './commands/limits.commands.js';
import { addListCommand } from './commands/list.command.js';
import { addPauseCommands } from './commands/pause.commands.js';
import { addQueuesCommand } from './commands/queues.command.js';
import { addRepeatsCommands } from './commands/repeats.commands.js';
import { addSearchCommand } from './commands/search.command.js';
import { addShowCommand } from './commands/show.command.js';
import { addTailCommand } from './commands/tail.command.js';
import { addWorkersCommand } from './commands/workers.command.js';
import { addCommonOptions } from './connection-arguments.js';
import { FAILED, FINE, Refusal, WRONG_USAGE, WrongUsage } from './exit-codes.js';
import type { Terminal } from './terminal.js';
import { VERSION } from './version.js';
import { printable, printableJson, printableLines, withoutLogins, withoutPasswords } from './text/printable.js';

const HELP = `
Exit codes: 0 success, 1 refused or failed, 2 wrong usage.
Other users of the machine can see a password on a command line: prefer REDIS_URL to --url.`;

/** Runs the command line to its end and returns its exit code. It never rejects. */
export async function runCommandLine(words: readonly string[], terminal: Terminal): Promise<number> {
  const program = createProgram(terminal);
  try {
    await program.parseAsync(words, { from: 'user' });
    return FINE;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? FINE : WRONG_USAGE;
    terminal.problems.write(`${describe(error, program.opts<{ json: boolean }>().json)}\n`);
    return exitCodeOf(error);
  }
}

function createProgram(terminal: Terminal): Command {
  const program = new Command('nestjs-delay-queue-cli')
    .description('Shows and repairs delay queues in Redis.')
    .version(VERSION, '-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.output.write(text),
      writeErr: (text) => void terminal.problems.write(text),
      // It quotes what it does not understand, which may be a part of a URL.
      outputError: (text, write) => write(`${printableLines(withoutPasswords(text).trimEnd())} (see --help)\n`),
    })
    .addHelpText('after', HELP);
  addCommonOptions(program);
  const commandLine = new CommandLine(terminal);
  const looks = [
    addQueuesCommand,
    addWorkersCommand,
    addCountsCommand,
    addListCommand,
    addSearchCommand,
    addShowCommand,
  ];
  const overviews = [addHistogramCommand, addErrorsCommand, addGroupsCommands, addTailCommand];
  const changes = [addDelayedCommands, addDeadCommands, addPauseCommands, addRepeatsCommands, addLimitsCommands];
  const others = [addFreeIdCommand, addClearCommand, addExportCommand, addImportCommand];
  const ofServers = [addDoctorCommand, addDeleteFunctionsCommand];
  for (const add of [...looks, ...overviews, ...changes, ...others, ...ofServers]) add(program, commandLine);
  return program;
}

function describe(error: unknown, asJson: boolean): string {
  const isExpected = error instanceof DelayQueueError || error instanceof Refusal || error instanceof WrongUsage;
  const message = withoutLogins(isExpected ? error.message : String(error));
  if (!asJson) return printable(message);
  return printableJson({ ...(error instanceof DelayQueueError && { code: error.code }), message });
}

function exitCodeOf(error: unknown): number {
  const isMisuse =
    error instanceof WrongUsage ||
    (error instanceof DelayQueueError && ['INVALID_ARGUMENT', 'INVALID_OPTION'].includes(error.code));
  return isMisuse ? WRONG_USAGE : FAILED;
}
