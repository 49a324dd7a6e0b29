import { setTimeout as sleep } from 'node:timers/promises';
import { summarize } from '../measure/summary.js';
import type { SystemProcess } from '../process/system-process.js';
import { countsOf, sum } from './counts.js';
import { joinUpTo } from './join.js';
import type { Figure, Scenario } from './scenario.js';

const PROCESSES = [2, 5, 20];
/** How long a handler takes, ms, and how many messages there are for each process: always many more than it handles at once. */
const HANDLERS = [
  { duration: 0, each: 5_000 },
  { duration: 10, each: 5_000 },
  { duration: 500, each: 1_000 },
];
/**
 * The time to fill the queue before everything falls due, as a multiple of what it took for the warm-up, when the consumers
 * were at work.
 */
const LEAD = 1.5;
/** Milliseconds on top of that. */
const SPARE = 2_000;
const WARM_UP_EACH = 5_000;
/** A look costs time that handlers need. */
const POLL = 500;

/** How evenly the processes that consume one queue share its messages, when there is too much work for one of them. */
export const fairness: Scenario = {
  name: 'fairness',
  title: 'Share of the work ÷ fair share',
  figures: PROCESSES.flatMap((number) => HANDLERS.flatMap(({ duration }) => figuresFor(number, duration))),
  suits: ({ manyConsumers }) => manyConsumers,
  onRequest: true,

  async measure(stage) {
    const producer = await stage.startProducer();
    const consumers: SystemProcess[] = [];
    const figures: Record<string, number> = {};
    for (const number of PROCESSES) {
      await joinUpTo(number, stage, consumers);
      const leadEach = await warmUp(producer, consumers);
      for (const { duration, each } of HANDLERS) {
        await Promise.all(consumers.map((consumer) => consumer.ask('takeTime', { duration })));
        const counts = await shareBurst(producer, consumers, { count: number * each, leadEach });
        figures[`least ${number} ${duration}`] = Math.min(...counts) / each;
        figures[`median ${number} ${duration}`] = summarize(counts).median / each;
        figures[`most ${number} ${duration}`] = Math.max(...counts) / each;
        // No handler of these messages is at work when the next ones fall due.
        await sleep(duration);
      }
    }
    return figures;
  },
};

function figuresFor(number: number, duration: number): Figure[] {
  const where = `${number} processes, handlers of ${duration} ms`;
  return [
    { key: `least ${number} ${duration}`, title: `smallest, ${where}`, unit: '', better: 'more' },
    { key: `median ${number} ${duration}`, title: `median, ${where}`, unit: '', better: 'more' },
    { key: `most ${number} ${duration}`, title: `largest, ${where}`, unit: '', better: 'less' },
  ];
}

/**
 * A process whose code is not compiled yet would handle fewer.
 *
 * @returns how long the queue may take to fill, ms for each message
 */
async function warmUp(producer: SystemProcess, consumers: readonly SystemProcess[]): Promise<number> {
  await Promise.all(consumers.map((consumer) => consumer.ask('takeTime', { duration: 0 })));
  await Promise.all(consumers.map((consumer) => consumer.ask('reset')));
  const count = WARM_UP_EACH * consumers.length;
  const { took } = await producer.ask('fill', { count, delay: 1 });
  await handled(consumers, count);
  return (took / count) * LEAD;
}

/**
 * Lets messages fall due all at once, so that every process has work from the first to the last of them.
 *
 * @returns how many each process handled
 */
async function shareBurst(
  producer: SystemProcess,
  consumers: readonly SystemProcess[],
  { count, leadEach }: { count: number; leadEach: number },
): Promise<number[]> {
  await Promise.all(consumers.map((consumer) => consumer.ask('reset')));
  const first = Date.now() + Math.round(count * leadEach + SPARE);
  await producer.ask('fill', { count, delay: 0, due: { count, first, interval: 0 } });
  if (Date.now() > first) throw new Error('the queue was not filled in time');
  await sleep(first - Date.now());
  return handled(consumers, count);
}

async function handled(consumers: readonly SystemProcess[], count: number): Promise<number[]> {
  for (;;) {
    await sleep(POLL);
    const counts = await countsOf(consumers);
    if (sum(counts) >= count) return counts;
  }
}
