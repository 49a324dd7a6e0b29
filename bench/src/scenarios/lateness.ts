import type { Scenario } from './scenario.js';

const RATES = [100, 1_000, 5_000];
const DELAY = 500;

/** The lateness of messages that fall due at a steady pace. */
export const lateness: Scenario = {
  name: 'lateness',
  title: 'Lateness',
  figures: RATES.flatMap((rate) =>
    (['p50', 'p99', 'max'] as const).map((key) => ({
      key: `${rate} ${key}`,
      title: `${rate.toLocaleString('en')} per second, ${key}`,
      unit: 'ms',
      better: 'less' as const,
    })),
  ),

  async measure(stage) {
    const seconds = stage.pick({ quick: 1, full: 5 });
    const { producer, consumer } = await stage.startBoth();
    // Node.js compiles code after some runs.
    const warmUp = await producer.ask('offerAtRate', { rate: 1_000, seconds: 1, delay: DELAY });
    await consumer.ask('handled', { count: warmUp.offered });

    const figures: Record<string, number> = {};
    for (const rate of RATES) {
      await consumer.ask('reset');
      const { offered } = await producer.ask('offerAtRate', { rate, seconds, delay: DELAY });
      const { lateness } = await consumer.ask('handled', { count: offered });
      for (const key of ['p50', 'p99', 'max'] as const) figures[`${rate} ${key}`] = lateness[key];
    }
    return figures;
  },
};
