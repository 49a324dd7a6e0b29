import type { Contestant, Handled, Schedule } from './contestant.js';
import type { PendingQueues } from './pending-queues.js';

/** How much is measured. */
export interface Extent {
  readonly pending: readonly number[];
  readonly offersOfOne: number;
  readonly offersOfMany: number;
  readonly dueAtOnce: number;
  readonly seconds: number;
}

/** A figure; `isBound`: it would be worse if somebody had waited longer. */
export interface Figure {
  readonly value: number;
  readonly isBound: boolean;
}

export interface Measurement {
  readonly title: string;
  readonly unit: string;
  readonly better: 'more' | 'less';
  run(stage: Stage, pending: number): Promise<Figure>;
}

/** One contestant and its queues. */
export interface Stage {
  readonly contestant: Contestant;
  readonly queues: PendingQueues;
}

const CALLERS = 1000;
const RATE = 1000;
/** What happens before the first is due: a pause, and some time for each to be scheduled. */
const LEAD = 2000;
const LEAD_EACH = 0.3;
/** How long after the last is due anybody waits for what is still to come. */
const PATIENCE_AT_ONCE = 60_000;
const PATIENCE_STEADY = 10_000;
/** Besides those that fall due, at least so many are pending. */
const FEWEST_LEFT = 1000;

export function measurementsOf(extent: Extent): Measurement[] {
  const offers = (title: string, count: number, callers: number): Measurement => ({
    title,
    unit: '/s',
    better: 'more',
    run: (stage, pending) => offersPerSecond(stage, pending, { count, callers }),
  });
  return [
    offers('offers, one caller', extent.offersOfOne, 1),
    offers('offers, 1,000 concurrent', extent.offersOfMany, CALLERS),
    {
      title: 'handled once due',
      unit: '/s',
      better: 'more',
      run: (stage, pending) => handledPerSecond(stage, pending, extent.dueAtOnce),
    },
    {
      title: 'p99 lateness at 1,000/s',
      unit: 'ms',
      better: 'less',
      run: (stage, pending) => lateness(stage, pending, extent.seconds * RATE),
    },
  ];
}

async function offersPerSecond(
  { contestant, queues }: Stage,
  pending: number,
  { count, callers }: { count: number; callers: number },
): Promise<Figure> {
  const queue = await queues.create(pending);
  await contestant.open(queue);
  const elapsed = await contestant.offer(queue, count, callers);
  await contestant.close(queue);
  await queues.remove(queue);
  return { value: (count / elapsed) * 1000, isBound: false };
}

/** Some of the pending messages fall due at one instant. */
async function handledPerSecond(stage: Stage, pending: number, due: number): Promise<Figure> {
  const { first, handled, deadline } = await letFallDue(stage, pending, {
    due,
    interval: 0,
    patience: PATIENCE_AT_ONCE,
  });
  const isBound = handled.length < due;
  const last = isBound ? deadline : Math.max(...handled.map(({ at }) => at));
  return { value: (handled.length / (last - first)) * 1000, isBound };
}

/** Some of the pending messages fall due one after the other. One that nobody waited for is at least so late as that. */
async function lateness(stage: Stage, pending: number, due: number): Promise<Figure> {
  const interval = 1000 / RATE;
  const fallen = await letFallDue(stage, pending, { due, interval, patience: PATIENCE_STEADY });
  const came = new Set(fallen.handled.map(({ index }) => index));
  const late = fallen.handled.map(({ at, due: instant }) => at - instant);
  for (const [index, instant] of fallen.schedule) if (!came.has(index)) late.push(fallen.deadline - instant);
  late.sort((a, b) => a - b);
  return { value: late[Math.floor(late.length * 0.99)]!, isBound: came.size < due };
}

async function letFallDue(
  { contestant, queues }: Stage,
  pending: number,
  { due, interval, patience }: { due: number; interval: number; patience: number },
): Promise<{ first: number; deadline: number; handled: Handled[]; schedule: Schedule }> {
  const size = Math.max(pending, due + FEWEST_LEFT);
  const queue = await queues.create(size);
  await contestant.open(queue);
  const first = Math.ceil(Date.now() + LEAD + due * LEAD_EACH);
  const schedule: Schedule = randomPlaces(size, due).map((index, i) => [index, Math.round(first + i * interval)]);
  const deadline = first + due * interval + patience;
  const handling = contestant.handle(queue, due, deadline);
  await contestant.schedule(queue, schedule);
  const handled = await handling;
  await contestant.close(queue);
  await queues.remove(queue);
  return { first, deadline, handled, schedule };
}

/** Different ones, in no order. */
function randomPlaces(size: number, count: number): number[] {
  const places = new Set<number>();
  while (places.size < count) places.add(Math.floor(Math.random() * size));
  return [...places];
}
