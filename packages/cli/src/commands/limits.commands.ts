import type { Command } from 'commander';
import type { LimitsSet, LimitsToSet } from 'nestjs-delay-queue';
import type { CommandLine } from '../command-line.js';
import { readDuration } from '../duration.js';
import { Refusal, WrongUsage } from '../exit-codes.js';

interface SetArguments {
  readonly globalConcurrency?: string;
  readonly rate?: string;
  readonly by?: string;
}

export function addLimitsCommands(program: Command, commandLine: CommandLine): void {
  program
    .command('limits <queue>')
    .description('show the limits that were set for a queue while it runs')
    .action((queue: string, _: object, command: Command) =>
      commandLine.look(command, [queue], async ({ producer, report }) => {
        const limits = await producer.limits(queue).get();
        report.print({ queue, limits }, () => (limits ? inWords(limits) : `No limits were set for queue '${queue}'.`));
      }),
    );
  program
    .command('set-limits <queue>')
    .description('set limits for a queue in all processes, instead of those in their options')
    .option('--global-concurrency <number>', "how many messages all processes together handle at once, or 'unlimited'")
    .option('--rate <messages/time>', "how many messages may be claimed within a time, such as 100/1s, or 'unlimited'")
    .option('--by <name>', 'who sets them, as `limits` shows it (default: the host and the process id)')
    .action((queue: string, args: SetArguments, command: Command) => {
      const limits = readLimits(args);
      return commandLine.change(command, queue, async ({ producer, report, ask }) => {
        await ask(`Set limits of queue '${queue}' in all processes`);
        const { by } = args;
        await producer.limits(queue).set(limits, { by });
        report.print(
          { queue, limits: await producer.limits(queue).get() },
          () => `Set the limits of queue '${queue}'.`,
        );
      });
    });
  program
    .command('reset-limits <queue>')
    .description('remove the limits that were set for a queue, so that the options of each process decide again')
    .action((queue: string, _: object, command: Command) =>
      commandLine.change(command, queue, async ({ producer, report, ask }) => {
        await ask(`Reset the limits of queue '${queue}' in all processes`);
        if (!(await producer.limits(queue).reset())) throw new Refusal(`No limits were set for queue '${queue}'.`);
        report.print({ queue, limits: null }, () => `Reset the limits of queue '${queue}'.`);
      }),
    );
}

function readLimits({ globalConcurrency, rate }: SetArguments): LimitsToSet {
  if (globalConcurrency === undefined && rate === undefined)
    throw new WrongUsage('Say which limits: --global-concurrency, --rate, or both');
  return {
    ...(globalConcurrency !== undefined && {
      globalConcurrency: globalConcurrency === 'unlimited' ? globalConcurrency : readCount(globalConcurrency),
    }),
    ...(rate !== undefined && { rate: rate === 'unlimited' ? rate : readRate(rate) }),
  };
}

function readCount(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new WrongUsage(`--global-concurrency must be a whole number or 'unlimited', not '${text}'`);
}

function readRate(text: string): { max: number; per: number } {
  const [, max, per] = /^(\d+)\/(.+)$/.exec(text) ?? [];
  if (max === undefined || per === undefined)
    throw new WrongUsage(`--rate must be <messages>/<time>, such as 100/1s, or 'unlimited', not '${text}'`);
  return { max: Number(max), per: readDuration(per, '--rate') };
}

function inWords({ globalConcurrency, rate, setBy, setAt }: LimitsSet): string[] {
  const rateText = rate === undefined || rate === 'unlimited' ? rate : `${rate.max} within ${rate.per} ms`;
  return [
    `global concurrency  ${globalConcurrency ?? "as in each process's options"}`,
    `rate                ${rateText ?? "as in each process's options"}`,
    `set by              ${setBy}`,
    `set at              ${setAt.toISOString()}`,
  ];
}
