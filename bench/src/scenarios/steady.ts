import type { Scenario } from './scenario.js';

/** One process offers as fast as may be, another one handles: how much gets through. */
export const steady: Scenario = {
  name: 'steady',
  title: 'End to end',
  figures: [{ key: 'rate', title: 'offered and handled', unit: '/s', better: 'more' }],

  async measure(stage) {
    const seconds = stage.pick({ quick: 1, full: 5 });
    const { producer, consumer } = await stage.startBoth();
    const work = { inFlight: 1_000, delay: 100 };
    const warmUp = await producer.ask('offerFor', { ...work, seconds: 1 });
    await consumer.ask('handled', { count: warmUp.offered });

    await consumer.ask('reset');
    const { offered } = await producer.ask('offerFor', { ...work, seconds });
    // Who takes in more than is handled has to make up for it.
    const { firstAt, lastAt } = await consumer.ask('handled', { count: offered });
    return { rate: (offered / (lastAt - firstAt)) * 1000 };
  },
};
