import type { Scenario } from './scenario.js';

/** Throughput when one process offers as fast as it can and another handles. */
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
    // A system that stores faster than it handles has to catch up first.
    const { firstAt, lastAt } = await consumer.ask('handled', { count: offered });
    return { rate: (offered / (lastAt - firstAt)) * 1000 };
  },
};
