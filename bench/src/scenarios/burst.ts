import type { Stage } from '../measure/stage.js';
import { BASELINE, OURS } from '../systems.js';
import type { Figure, Scenario } from './scenario.js';

const LATE: Pick<Figure, 'unit' | 'better'> = { unit: 'ms', better: 'less' };

/** Many messages fall due at the same moment. One process waits for them. */
async function measureBurst(stage: Stage, count: number, filling: number) {
  const { producer, consumer } = await stage.startBoth();
  // Node.js compiles code after some runs.
  await producer.ask('fill', { count: 5_000, delay: 1 });
  await consumer.ask('handled', { count: 5_000 });
  await consumer.ask('reset');

  const first = Date.now() + filling;
  await producer.ask('fill', { count, delay: 0, due: { count, first, interval: 0 } });
  if (Date.now() > first) throw new Error('the queue was not filled in time');
  await producer.end();
  const probe = stage.startPings();
  const { lateness } = await consumer.ask('handled', { count });
  const ping = await probe?.stop();
  return { first: lateness.min, last: lateness.max, ping: ping?.p99 };
}

export const burst: Scenario = {
  name: 'burst',
  title: '20,000 due at once',
  figures: [
    { key: 'first', title: 'lateness of the first', ...LATE },
    { key: 'last', title: 'lateness of the last', ...LATE },
    { key: 'ping', title: "another client's PING, p99", ...LATE },
  ],
  measure: (stage) => measureBurst(stage, 20_000, 8_000),
};

/** The peers would need minutes. */
export const burstOfAMillion: Scenario = {
  name: 'million',
  title: '1,000,000 due at once',
  figures: burst.figures,
  suits: ({ name }) => name === OURS || name === BASELINE || name === 'earlier',
  maxRounds: 1,
  fullOnly: true,
  measure: (stage) => measureBurst(stage, 1_000_000, 90_000),
};
