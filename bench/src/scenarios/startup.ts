import type { Scenario } from './scenario.js';

/** How long a process takes from its start to its first message, with many messages overdue. */
export const startup: Scenario = {
  name: 'startup',
  title: 'Start with 1,000,000 overdue',
  figures: [{ key: 'first', title: 'until the first is handled', unit: 'ms', better: 'less' }],
  maxRounds: 1,
  fullOnly: true,

  async measure(stage) {
    const [producer, consumer] = await Promise.all([stage.startProducer(), stage.startConsumer()]);
    await producer.ask('fill', { count: 1_000_000, delay: 1 });
    await producer.end();
    const { startedAt } = await consumer.ask('start');
    const { firstAt } = await consumer.ask('handled', { count: 1 });
    return { first: firstAt - startedAt };
  },
};
