import { setTimeout as sleep } from 'node:timers/promises';
import { distributionOf } from '../measure/percentiles.js';
import type { SystemProcess } from '../process/system-process.js';
import { countsOf, sum } from './counts.js';
import { joinUpTo } from './join.js';
import type { Scenario } from './scenario.js';

const PROCESSES = [1, 5, 20];
const RATE = 400;
const DELAY = 500;
const POLL = 100;
/** Seconds. */
const WARM_UP = 3;
const MEASURED = 5;

const processes = (number: number) => (number === 1 ? '1 process' : `${number} processes`);

/** The cost of a message for Redis, including its offer, and its lateness, when many processes wait for it. */
export const herd: Scenario = {
  name: 'herd',
  title: '400 per second',
  figures: PROCESSES.flatMap((number) => [
    {
      key: `calls ${number}`,
      title: `server calls per message, ${processes(number)}`,
      unit: '',
      better: 'less' as const,
    },
    { key: `cpu ${number}`, title: `Redis CPU per message, ${processes(number)}`, unit: 'µs', better: 'less' as const },
    { key: `late ${number}`, title: `p99 lateness, ${processes(number)}`, unit: 'ms', better: 'less' as const },
  ]),
  suits: ({ manyConsumers }) => manyConsumers,
  maxRounds: 1,
  fullOnly: true,

  async measure(stage) {
    const producer = await stage.startProducer();
    const consumers: SystemProcess[] = [];
    const figures: Record<string, number | undefined> = {};
    for (const number of PROCESSES) {
      await joinUpTo(number, stage, consumers);
      await offerAndHandle(producer, consumers, WARM_UP);
      const meter = await stage.startMeter();
      const offered = await offerAndHandle(producer, consumers, MEASURED);
      const work = await meter?.stop();
      figures[`calls ${number}`] = work && work.calls / offered;
      figures[`cpu ${number}`] = work && work.cpu / offered;
      const lateness = await Promise.all(consumers.map((consumer) => consumer.ask('lateness')));
      figures[`late ${number}`] = distributionOf(lateness.flat()).p99;
    }
    return figures;
  },
};

async function offerAndHandle(producer: SystemProcess, consumers: readonly SystemProcess[], seconds: number) {
  await Promise.all(consumers.map((consumer) => consumer.ask('reset')));
  const { offered } = await producer.ask('offerAtRate', { rate: RATE, seconds, delay: DELAY });
  // A look while messages fall due would make them late.
  do await sleep(DELAY + POLL);
  while (sum(await countsOf(consumers)) < offered);
  return offered;
}
