import type { Redis } from 'ioredis';
import type { Contestant } from './contestant.js';
import { type Extent, type Figure, measurementsOf } from './measurements.js';
import { PendingQueues } from './pending-queues.js';

/** What was measured of one thing: for each contestant one figure a round. */
export interface Row {
  readonly title: string;
  readonly unit: string;
  readonly better: 'more' | 'less';
  readonly pending: number;
  readonly figures: readonly (readonly Figure[])[];
}

/** Java compiles what it runs often, and so does Node.js: this much is run before anything counts. */
const WARM_UP: Extent = { pending: [1000], offersOfOne: 3000, offersOfMany: 30_000, dueAtOnce: 2000, seconds: 3 };

/**
 * Lets contestants do the same in turn, round by round.
 *
 * @param say - is told what is being done
 */
export async function compare(
  contestants: readonly Contestant[],
  { redis, extent, rounds, say }: { redis: Redis; extent: Extent; rounds: number; say: (text: string) => void },
): Promise<Row[]> {
  const stages = contestants.map((contestant) => ({ contestant, queues: new PendingQueues(redis, contestant) }));
  const round = async (
    name: string,
    { title, run, unit }: ReturnType<typeof measurementsOf>[number],
    pending: number,
  ) => {
    const figures: Figure[] = [];
    for (const stage of stages) {
      const figure = await run(stage, pending);
      const told = `${figure.isBound ? 'bound ' : ''}${figure.value.toFixed(1)} ${unit}`;
      say(`${name}, ${title}, ${pending} pending, ${stage.contestant.title}: ${told}`);
      figures.push(figure);
    }
    return figures;
  };
  for (const measurement of measurementsOf(WARM_UP)) await round('warm-up', measurement, WARM_UP.pending[0]!);

  const rows = extent.pending.flatMap((pending) =>
    measurementsOf(extent).map((measurement) => ({ measurement, pending, figures: stages.map((): Figure[] => []) })),
  );
  for (let i = 1; i <= rounds; i++) {
    for (const { measurement, pending, figures } of rows) {
      const measured = await round(`round ${i}`, measurement, pending);
      measured.forEach((figure, at) => figures[at]!.push(figure));
    }
  }
  return rows.map(({ measurement: { title, unit, better }, pending, figures }) => ({
    title,
    unit,
    better,
    pending,
    figures,
  }));
}
