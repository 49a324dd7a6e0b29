import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario } from './scenario.js';

/** Time for what is still under way after the last handler, ms. */
const REST = 200;

/** The rate leaves out this share of the messages, which are handled while code is still being compiled. */
const WARM_UP = 0.2;

/** One process starts and finds a backlog. */
export const drain: Scenario = {
  name: 'drain',
  title: 'Draining a backlog',
  figures: [
    { key: 'rate', title: 'handled', unit: '/s', better: 'more' },
    { key: 'calls', title: 'server calls per message', unit: '', better: 'less' },
    { key: 'redisCpu', title: 'Redis CPU per message', unit: 'µs', better: 'less' },
    { key: 'processCpu', title: 'process CPU per message', unit: 'µs', better: 'less' },
  ],

  async measure(stage) {
    const count = stage.pick({ quick: 20_000, full: 200_000 });
    const [producer, consumer] = await Promise.all([stage.startProducer(), stage.startConsumer()]);
    await producer.ask('fill', { count, delay: 1 });
    await producer.end();

    const meter = await stage.startMeter();
    await consumer.ask('start');
    const handled = await consumer.ask('handled', { count, skip: count * WARM_UP });
    await sleep(REST);
    const work = await meter?.stop();
    return {
      rate: (handled.count / (handled.lastAt - handled.firstAt)) * 1000,
      calls: work && work.calls / count,
      redisCpu: work && work.cpu / count,
      processCpu: handled.cpu / count,
    };
  },
};
