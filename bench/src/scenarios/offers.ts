import { pinned } from '../measure/pinned.js';
import type { Scenario } from './scenario.js';

const HOUR = 3_600_000;
const delay = { from: HOUR, to: 2 * HOUR };
/** Offers one by one get faster until then. */
const WARM_UP = 3_000;

/** How fast one process offers. */
export const offers: Scenario = {
  name: 'offers',
  title: 'Offers',
  figures: [
    { key: 'oneByOne', title: 'one by one', unit: '/s', better: 'more' },
    { key: 'inFlight', title: '1,000 in flight', unit: '/s', better: 'more' },
    { key: 'lists', title: 'lists of 1,000', unit: '/s', better: 'more' },
    { key: 'cpuOneByOne', title: 'process CPU per offer, one by one', unit: 'µs', better: 'less' },
    { key: 'cpuInFlight', title: 'process CPU per offer, 1,000 in flight', unit: 'µs', better: 'less' },
  ],

  async measure(stage) {
    const count = stage.pick({ quick: 10_000, full: 50_000 });
    const few = stage.pick({ quick: 2_000, full: 5_000 });
    const producer = await stage.startProducer();
    // Node.js compiles code after some runs.
    await producer.ask('offerInFlight', { count: few, inFlight: 100, delay });
    await producer.ask('offerLists', { count: 5_000, delay });

    await producer.ask('offerOneByOne', { count: WARM_UP, delay });
    const oneByOne = await pinned([producer.pid, ...(await stage.serverPids())], () =>
      producer.ask('offerOneByOne', { count: few, delay }),
    );
    const inFlight = await producer.ask('offerInFlight', { count, inFlight: 1_000, delay });
    const lists = await producer.ask('offerLists', { count, delay });
    return {
      oneByOne: (few / oneByOne.took) * 1000,
      inFlight: (count / inFlight.took) * 1000,
      lists: lists && (count / lists.took) * 1000,
      cpuOneByOne: oneByOne.cpu / few,
      cpuInFlight: inFlight.cpu / count,
    };
  },
};
