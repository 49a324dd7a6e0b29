import type { Command } from 'commander';
import type { DelayQueueProducer, WorkerReport } from 'nestjs-delay-queue';
import type { CommandLine } from '../command-line.js';
import { type Cell, tableOf } from '../text/table.js';

const PAGE = 1000;
const HEADINGS = [
  ...['host', 'pid', 'version', 'queue', 'slots', 'used', 'handled', 'failed', 'p50', 'p99'],
  ...['longest', 'since'],
];

export function addWorkersCommand(program: Command, commandLine: CommandLine): void {
  program
    .command('workers')
    .description('list the processes that handle queues, and what they do')
    .action((_, command: Command) =>
      commandLine.look(command, [], async ({ producer, report }) => {
        const workers = await allWorkers(producer);
        report.print(workers, () => (workers.length === 0 ? [] : tableOf(HEADINGS, workers.flatMap(rowsOf))));
      }),
    );
}

async function allWorkers(producer: DelayQueueProducer): Promise<WorkerReport[]> {
  const workers: WorkerReport[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await producer.workers({ limit: PAGE, ...(cursor !== undefined && { cursor }) });
    workers.push(...page.workers);
    cursor = page.cursor;
  }
  return workers.sort((one, other) => (one.host === other.host ? one.pid - other.pid : one.host < other.host ? -1 : 1));
}

function rowsOf({ host, pid, version, queues }: WorkerReport): Cell[][] {
  return queues.map((queue) => [host, pid, version, ...cellsOf(queue)]);
}

function cellsOf({ queue, slots, used, handled, failed, lateness, longest }: WorkerReport['queues'][number]): Cell[] {
  return [
    ...[queue, slots, used, handled, failed],
    ...(lateness ? [`${lateness.p50} ms`, `${lateness.p99} ms`] : ['', '']),
    ...(longest ? [longest.id, longest.since.toISOString()] : ['', '']),
  ];
}
