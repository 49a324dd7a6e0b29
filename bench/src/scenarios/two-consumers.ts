import { countsOnceQuiet, sum } from './counts.js';
import type { Scenario } from './scenario.js';

const DELAY = 500;

/** Two processes consume one queue. */
export const twoConsumers: Scenario = {
  name: 'two-consumers',
  title: 'Two consumers',
  figures: [{ key: 'times', title: 'times that each message is handled', unit: '', better: 'less' }],
  suits: ({ manyConsumers }) => manyConsumers,
  maxRounds: 1,
  fullOnly: true,

  async measure(stage) {
    const { producer, consumer } = await stage.startBoth();
    const other = await stage.startConsumer();
    await other.ask('start');
    const seconds = stage.pick({ quick: 1, full: 5 });
    const { offered } = await producer.ask('offerAtRate', { rate: 1_000, seconds, delay: DELAY });
    return { times: sum(await countsOnceQuiet([consumer, other])) / offered };
  },
};
