import { distributionOf } from '../measure/percentiles.js';
import type { Scenario } from './scenario.js';

const delay = { from: 100, to: 400 };

/** The lateness of a message that is alone in its queue. */
export const lone: Scenario = {
  name: 'lone',
  title: 'Lone message',
  figures: [
    { key: 'p50', title: 'lateness, p50', unit: 'ms', better: 'less' },
    { key: 'max', title: 'lateness, max', unit: 'ms', better: 'less' },
  ],

  async measure(stage) {
    const count = stage.pick({ quick: 6, full: 30 });
    const { producer, consumer } = await stage.startBoth();
    // The first messages wait for code to be loaded and compiled.
    await producer.ask('offerOneByOne', { count: 20, delay: 50 });
    await consumer.ask('handled', { count: 20 });
    const lateness: number[] = [];
    while (lateness.length < count) {
      await consumer.ask('reset');
      await producer.ask('offerOneByOne', { count: 1, delay });
      lateness.push((await consumer.ask('handled', { count: 1 })).lateness.max);
    }
    return { ...distributionOf(lateness) };
  },
};
