import type { Command } from 'commander';
import type { DelayQueueProducer, MessageCounts, QueueCounts } from 'nestjs-delay-queue';
import type { CommandLine, Run } from '../command-line.js';
import { WrongUsage } from '../exit-codes.js';
import { allQueues } from '../queue-names.js';
import { type Cell, tableOf } from '../text/table.js';

const STATES = ['delayed', 'ready', 'active', 'dead'] as const satisfies (keyof MessageCounts)[];

export function addCountsCommand(program: Command, commandLine: CommandLine): void {
  program
    .command('counts [queue]')
    .description('count the messages in each state, of one queue or of all')
    .option('--by-type', 'count each message type separately; reads the whole queue', false)
    .action((queue: string | undefined, { byType }: { byType: boolean }, command: Command) => {
      if (byType && queue === undefined) throw new WrongUsage('--by-type needs a queue: counts <queue> --by-type');
      return commandLine.look(command, queue === undefined ? [] : [queue], async (run) => {
        const { producer, report, inspect, warnOfMissing } = run;
        if (byType) {
          const records = await countsByType(producer, queue!);
          warnOfMissing(queue!, (await inspect(queue!)).missing);
          report.print(records, () => tableOf(['type', ...STATES], records.map(rowByType)));
          return;
        }
        const records = await countsOf(run, queue === undefined ? await allQueues(producer) : [queue]);
        report.print(records, () => tableOf(['queue', ...STATES, 'paused', 'next due'], records.map(rowOf)));
      });
    });
}

interface QueueRecord extends QueueCounts {
  readonly queue: string;
  readonly paused: boolean;
  readonly nextDue: Date | null;
}

/** Counts one queue after the other, because an instance with thousands of queues must not get thousands of calls at once. */
async function countsOf({ inspect, warnOfMissing }: Run, queues: readonly string[]): Promise<QueueRecord[]> {
  const records: QueueRecord[] = [];
  for (const queue of queues) {
    const { counts, paused, nextDue, missing } = await inspect(queue);
    warnOfMissing(queue, missing);
    records.push({ queue, ...counts, paused, nextDue, ...(missing && { missing }) });
  }
  return records;
}

async function countsByType(producer: DelayQueueProducer, queue: string) {
  const byType = await producer.countsByType(queue);
  return [...byType].sort().map(([type, counts]) => ({ queue, type, ...counts }));
}

const rowOf = (record: QueueRecord): Cell[] => [
  record.queue,
  ...STATES.map((state) => record[state]),
  record.paused ? 'yes' : 'no',
  record.nextDue?.toISOString() ?? '',
];

const rowByType = (record: MessageCounts & { readonly type: string }): Cell[] => [
  record.type || '(none)',
  ...STATES.map((state) => record[state]),
];
