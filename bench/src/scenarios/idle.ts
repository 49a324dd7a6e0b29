import { setTimeout as sleep } from 'node:timers/promises';
import { RedisMeter } from '../measure/redis-meter.js';
import type { Scenario } from './scenario.js';

const DAY = 86_400_000;

/** Commands that a process sends to Redis while nothing is due. */
export const idle: Scenario = {
  name: 'idle',
  title: 'Idle process, 1,000 pending',
  figures: [{ key: 'calls', title: 'server calls per minute', unit: '', better: 'less' }],
  maxRounds: 1,
  idle: true,
  fullOnly: true,

  async measure(stage) {
    const { producer } = await stage.startBoth();
    await producer.ask('fill', { count: 1_000, delay: DAY });
    await producer.end();
    await sleep(1_000);
    const meter = await RedisMeter.start(stage.redis);
    await sleep(60_000);
    const { calls } = await meter.stop();
    return { calls };
  },
};
