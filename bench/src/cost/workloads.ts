import { setTimeout as sleep } from 'node:timers/promises';
import type { Stage } from '../measure/stage.js';
import type { SystemProcess } from '../process/system-process.js';

/** Steps of a message whose cost for the process is measured. */
export interface Workload {
  readonly name: string;
  readonly title: string;
  /** Messages in a portion: enough for a fair share of the garbage, and few enough for portions to follow each other closely. */
  readonly messages: number;
  start(stage: Stage): Promise<Portions>;
}

/** The same work, portion by portion. */
export interface Portions {
  /** The process that is measured. */
  readonly process: SystemProcess;
  /** Must happen before the process works on the next portion. */
  readonly prepare: () => Promise<unknown>;
  readonly work: () => Promise<unknown>;
}

const HOUR = 3_600_000;
const delay = { from: HOUR, to: 2 * HOUR };

/** Time for outcomes that are under way after the last handler, ms. */
const REST = 30;

export const WORKLOADS: readonly Workload[] = [
  offering('oneByOne', 'an offer, one by one', 2_000, (producer, count) =>
    producer.ask('offerOneByOne', { count, delay }),
  ),
  offering('inFlight', 'an offer, 1,000 in flight', 20_000, (producer, count) =>
    producer.ask('offerInFlight', { count, inFlight: 1_000, delay }),
  ),
  offering('lists', 'an offer in a list of 1,000', 20_000, (producer, count) =>
    producer.ask('offerLists', { count, delay }),
  ),
  { name: 'drain', title: 'a drained message', messages: 10_000, start: (stage) => startDrains(stage, 10_000) },
];

function offering(
  name: string,
  title: string,
  messages: number,
  offer: (producer: SystemProcess, count: number) => Promise<unknown>,
): Workload {
  const start = async (stage: Stage): Promise<Portions> => {
    const process = await stage.startProducer();
    return { process, prepare: () => stage.redis.flushall(), work: () => offer(process, messages) };
  };
  return { name, title, messages, start };
}

/** All messages fall due at the same moment, and a process that waits for them handles them. */
async function startDrains(stage: Stage, count: number): Promise<Portions> {
  const { producer, consumer } = await stage.startBoth();
  let lead = 500;
  let first = 0;

  const fill = async (): Promise<void> => {
    await consumer.ask('reset');
    first = Date.now() + lead;
    await producer.ask('fill', { count, delay: 0, due: { count, first, interval: 0 } });
    if (Date.now() < first) return;
    // Too late: some have been handled already.
    lead *= 2;
    await consumer.ask('handled', { count });
    await fill();
  };

  const drain = async (): Promise<void> => {
    await consumer.ask('handled', { count });
    await sleep(REST);
  };
  return { process: consumer, prepare: fill, work: drain };
}
