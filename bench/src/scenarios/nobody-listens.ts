import { setTimeout as sleep } from 'node:timers/promises';
import { countsOnceQuiet, sum } from './counts.js';
import type { Scenario } from './scenario.js';

const DELAY = 1_000;
/** Time between the last due time and the start of the consumer, ms: a deployment takes longer. */
const AWAY = 2_000;

/** Messages fall due while no consumer runs, and one starts later. */
export const nobodyListens: Scenario = {
  name: 'nobody-listens',
  title: 'Due while nobody listens',
  figures: [{ key: 'handled', title: 'handled later', unit: '%', better: 'more' }],
  maxRounds: 1,
  fullOnly: true,

  async measure(stage) {
    const count = stage.pick({ quick: 1_000, full: 10_000 });
    const { producer, consumer } = await stage.startBoth();
    // Whatever a consumer sets up in the server is there.
    await consumer.end();
    await producer.ask('fill', { count, delay: DELAY });
    await sleep(DELAY + AWAY);
    const late = await stage.startConsumer();
    await late.ask('start');
    return { handled: (sum(await countsOnceQuiet([late])) / count) * 100 };
  },
};
