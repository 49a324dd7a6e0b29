import type { Command } from 'commander';
import type { MessageFilter, MessageState } from 'nestjs-delay-queue';
import { WrongUsage } from './exit-codes.js';

/** The options that select messages in one state. */
export interface FilterArguments {
  readonly idPrefix?: string;
  readonly type?: string;
  readonly group?: string;
  readonly text?: string;
  readonly dueFrom?: string;
  readonly dueTo?: string;
  readonly repeats?: boolean;
  readonly error?: string;
  readonly frame?: string;
}

/** Options of commands that work on messages of one state. `--group` is among them only if the command does not have it already. */
export function addFilterOptions(command: Command): Command {
  if (!command.options.some(({ long }) => long === '--group')) command.option('--group <name>', 'of this group');
  return command
    .option('--id-prefix <text>', 'whose ids begin with this')
    .option('--type <type>', "of this type; '' for messages without a type")
    .option('--text <text>', 'with this in the payload or headers, in upper or lower case')
    .option('--due-from <time>', "due at this time or later, such as '2026-11-22T16:00:00Z'")
    .option('--due-to <time>', 'due before this time')
    .option('--repeats', 'that repeat')
    .option('--no-repeats', 'that do not repeat')
    .option('--error <name>', 'dead letters with this error, as shown by `errors`')
    .option('--frame <frame>', 'and with this first stack frame');
}

/** @throws WrongUsage */
export function filterOf(state: MessageState, args: FilterArguments): MessageFilter {
  const { idPrefix, type, group, text, dueFrom, dueTo, repeats, error, frame } = args;
  if (frame !== undefined && error === undefined) throw new WrongUsage('--frame needs --error');
  const from = readTime('--due-from', dueFrom);
  const to = readTime('--due-to', dueTo);
  return {
    ...{ state, idPrefix, type, group, text, repeats },
    ...((from ?? to) && { due: { from, to } }),
    ...(error !== undefined && { error: { name: error, frame } }),
  };
}

/** Reads a time in ISO 8601. @throws WrongUsage */
export function readTime(option: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = new Date(text);
  if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(time.getTime())) return time;
  throw new WrongUsage(`${option} must be a time such as '2026-11-22T16:00:00Z', not '${text}'`);
}
