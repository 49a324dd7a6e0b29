import { setTimeout as sleep } from 'node:timers/promises';
import type { SystemProcess } from '../process/system-process.js';
import { GROUP_RATES, GROUPS, HISTORY, KEPT_IDS } from '../systems.js';

/** The processes of a system on one server. */
export interface Cast {
  startProducer(): Promise<SystemProcess>;
  /** It handles nothing before it is asked to `start`. */
  startConsumer(): Promise<SystemProcess>;
}

/** Steps of a message whose instructions on the server are counted. */
export interface Workload {
  readonly name: string;
  readonly title: string;
  /** The system that it is counted with, if it is always the same. */
  readonly system?: string;
  /**
   * The fewest and the most messages: only the difference counts, so what happens once a run does not. Even the shorter run must
   * contain it, such as the first use of a script.
   */
  readonly messages: readonly [few: number, many: number];
  run(cast: Cast, messages: number): Promise<void>;
}

const HOUR = 3_600_000;

/** Time for what is still under way after the last handler, ms. */
const REST = 300;

export const WORKLOADS: readonly Workload[] = [
  {
    name: 'lone',
    title: 'a lone message: offered, and handled 30 ms later',
    messages: [300, 1100],
    async run(cast, messages) {
      const [producer, consumer] = await Promise.all([cast.startProducer(), cast.startConsumer()]);
      await consumer.ask('start');
      for (let count = 1; count <= messages; count++) {
        await producer.ask('offerOneByOne', { count: 1, delay: 30 });
        await consumer.ask('handled', { count });
        // Its outcome is on its way.
        await sleep(5);
      }
      await sleep(REST);
    },
  },
  {
    name: 'offers',
    title: 'an offer, 1,000 in flight',
    messages: [5_000, 20_000],
    async run(cast, messages) {
      const producer = await cast.startProducer();
      await producer.ask('offerInFlight', { count: messages, inFlight: 1000, delay: HOUR });
    },
  },
  {
    name: 'lists',
    title: 'an offer in a list of 1,000',
    messages: [5_000, 20_000],
    async run(cast, messages) {
      const producer = await cast.startProducer();
      await producer.ask('offerLists', { count: messages, delay: HOUR });
    },
  },
  {
    name: 'drain',
    title: 'a message of a backlog: offered in a list, and drained',
    messages: [5_000, 20_000],
    run: drain,
  },
  {
    name: 'groups',
    title: 'a message of a backlog of 1,000 groups: offered in a list, and drained',
    system: GROUPS,
    messages: [5_000, 20_000],
    run: drain,
  },
  {
    name: 'group-rates',
    title: 'a message of a backlog of 1,000 groups with a rate: offered in a list, and drained',
    system: GROUP_RATES,
    messages: [5_000, 20_000],
    run: drain,
  },
  {
    name: 'history',
    title: 'a message of a backlog whose queue has a history: offered in a list, and drained',
    system: HISTORY,
    messages: [5_000, 20_000],
    run: drain,
  },
  {
    name: 'kept-ids',
    title: 'a message of a backlog whose queue keeps ids: offered in a list, and drained',
    system: KEPT_IDS,
    messages: [5_000, 20_000],
    run: drain,
  },
];

async function drain(cast: Cast, messages: number): Promise<void> {
  const [producer, consumer] = await Promise.all([cast.startProducer(), cast.startConsumer()]);
  await producer.ask('offerLists', { count: messages, delay: 0 });
  await consumer.ask('start');
  await consumer.ask('handled', { count: messages });
  await sleep(REST);
}
