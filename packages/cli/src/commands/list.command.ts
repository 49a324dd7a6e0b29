import { Argument, type Command, InvalidArgumentError } from 'commander';
import type { HandledMessage, MessagePage, MessageSnapshot, MessageState } from 'nestjs-delay-queue';
import type { CommandLine } from '../command-line.js';
import { WrongUsage } from '../exit-codes.js';
import { attemptsOf, errorText, payloadText, recordOfMessage, repeatText } from '../text/message-record.js';
import { type Cell, tableOf } from '../text/table.js';

interface ListArguments {
  readonly limit: number;
  readonly offset?: number;
  readonly cursor?: string;
  readonly group?: string;
}

/** Maximum number of characters of a payload; `show` prints all of it. */
const SHOWN_PAYLOAD = 60;

export const STATES = ['delayed', 'ready', 'active', 'dead'] satisfies MessageState[];

export function addListCommand(program: Command, commandLine: CommandLine): void {
  program
    .command('list <queue>')
    .addArgument(new Argument('<state>', 'the state of the messages').choices([...STATES, 'handled']))
    .description(
      'list the messages of a queue in one state, the next ones first, or those that were handled, newest first',
    )
    .option('--limit <number>', 'how many messages, 1–1000', wholeNumber, 20)
    .option('--offset <number>', 'how many to skip', wholeNumber)
    .option('--cursor <cursor>', 'where the previous page ended')
    .option('--group <name>', 'only messages of this group, in no particular order')
    .action((queue: string, state: MessageState | 'handled', { group, ...query }: ListArguments, command: Command) => {
      if (group !== undefined && query.offset !== undefined) {
        throw new WrongUsage('--offset cannot be combined with --group: use --cursor');
      }
      if (group !== undefined && state === 'handled')
        throw new WrongUsage('--group: handled messages have no index of groups');
      return commandLine.look(command, [queue], async ({ producer, report, warnOfMissing }) => {
        const print = ({ messages, cursor, missing }: MessagePage<Listed>, table: readonly string[]) => {
          warnOfMissing(queue, missing);
          const end = cursor === null ? [] : [{ cursor }];
          report.print([...messages.map(recordOfMessage), ...end], () => [
            ...table,
            ...end.map((next) => `More: --cursor '${next.cursor}'`),
          ]);
        };
        if (state === 'handled') {
          const page = await producer.list(queue, state, query);
          return print(page, tableOfHandled(page.messages));
        }
        const page =
          group === undefined
            ? await producer.list(queue, state, query)
            : await producer.group(queue, group).list(state, query);
        print(page, tableOfMessages(state, page.messages));
      });
    });
}

type Listed = MessageSnapshot | HandledMessage;

function tableOfHandled(messages: readonly HandledMessage[]): string[] {
  const head = ['id', 'type', 'handled', 'late ms', 'took ms', 'attempt', 'worker'];
  const rows = messages.map(({ id, type, handledAt, lateness, took, attempt, worker }) => [
    ...[id, type, handledAt.toISOString(), lateness, took, attempt],
    `${worker.host}:${worker.pid}`,
  ]);
  return tableOf(head, rows);
}

export function tableOfMessages(state: MessageState, messages: readonly MessageSnapshot[]): string[] {
  const columns = {
    hasGroups: messages.some(({ group }) => group !== undefined),
    hasRules: messages.some(({ repeat }) => repeat !== undefined),
  };
  const { hasGroups, hasRules } = columns;
  const middle = [INSTANT[state], 'failed', ...(hasRules ? ['repeats'] : [])];
  const head = ['id', 'type', ...(hasGroups ? ['group'] : []), ...middle, SUBJECT[state]];
  return tableOf(
    head,
    messages.map((message) => rowOf(message, columns)),
  );
}

const INSTANT: Readonly<Record<MessageState, string>> = {
  delayed: 'due',
  ready: 'due',
  active: 'leased until',
  dead: 'died',
};

const SUBJECT: Readonly<Record<MessageState, string>> = {
  delayed: 'payload',
  ready: 'payload',
  active: 'payload',
  dead: 'error',
};

/** Groups and rules have a column if any message has one. */
interface Columns {
  readonly hasGroups: boolean;
  readonly hasRules: boolean;
}

function rowOf(message: MessageSnapshot, { hasGroups, hasRules }: Columns): Cell[] {
  const { id, type, group = '', dueAt, leasedUntil, diedAt, error, payload, repeat } = message;
  const instant = (diedAt ?? leasedUntil ?? dueAt).toISOString();
  const rule = hasRules ? [repeat ? repeatText(repeat) : ''] : [];
  const subject = error ? errorText(error) : cut(payloadText(payload));
  return [id, type, ...(hasGroups ? [group] : []), instant, attemptsOf(message), ...rule, subject];
}

function cut(text: string): string {
  return text.length <= SHOWN_PAYLOAD ? text : `${text.slice(0, SHOWN_PAYLOAD - 1)}…`;
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Give a whole number.');
  return Number(text);
}
