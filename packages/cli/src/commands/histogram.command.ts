import type { Command } from 'commander';
import type { CommandLine } from '../command-line.js';
import { readTime } from '../filter-arguments.js';
import { type Cell, tableOf } from '../text/table.js';
import { wholeNumber } from './list.command.js';

interface HistogramArguments {
  readonly from?: string;
  readonly to?: string;
  readonly buckets: number;
}

const DAY = 24 * 60 * 60 * 1000;

/** The length of the longest bar, in characters. */
const BAR = 40;

export function addHistogramCommand(program: Command, commandLine: CommandLine): void {
  program
    .command('histogram <queue>')
    .description('count delayed messages by due time')
    .option('--from <time>', 'where to begin (default: now)')
    .option('--to <time>', 'where to end (default: a day later)')
    .option('--buckets <number>', 'in how many parts, 1–400', wholeNumber, 24)
    .action((queue: string, { from: start, to: end, buckets }: HistogramArguments, command: Command) => {
      const given = { from: readTime('--from', start), to: readTime('--to', end) };
      return commandLine.look(command, [queue], async ({ producer, inspect, report, warnOfMissing }) => {
        const from = given.from ?? (await inspect(queue)).now;
        const to = given.to ?? new Date(from.getTime() + DAY);
        const { missing, ...histogram } = await producer.histogram(queue, { from, to, buckets });
        warnOfMissing(queue, missing);
        report.print({ queue, ...histogram, ...(missing && { missing }) }, () => {
          const { before, counts, after } = histogram;
          const width = (to.getTime() - from.getTime()) / buckets;
          const times = counts.map((_, i) => new Date(from.getTime() + Math.floor(i * width)).toISOString());
          const most = Math.max(1, ...counts);
          const rows = counts.map((count, i): Cell[] => [
            times[i]!,
            count,
            '#'.repeat(Math.ceil((count / most) * BAR)),
          ]);
          return tableOf(
            ['due from', 'messages', ''],
            [['before', before, ''], ...rows, [`${to.toISOString()}, and later`, after, '']],
          );
        });
      });
    });
}
