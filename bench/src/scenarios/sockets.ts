import { setTimeout as sleep } from 'node:timers/promises';
import { RedisMeter } from '../measure/redis-meter.js';
import type { Stage } from '../measure/stage.js';
import type { Scenario } from './scenario.js';

const QUEUES = [1, 64, 200, 1_000];
const MINUTE = 60_000;
/** Time for what a process does once after its start, ms. */
const REST = 5_000;

const named = (queues: number) => (queues === 1 ? '1 queue' : `${queues.toLocaleString('en')} queues`);

/** The connections of a process that serves many quiet queues, and what it sends over them. */
export const sockets: Scenario = {
  name: 'sockets',
  title: 'One process, quiet queues',
  figures: QUEUES.flatMap((queues) => [
    { key: `sockets ${queues}`, title: `connections, ${named(queues)}`, unit: '', better: 'less' as const },
    { key: `calls ${queues}`, title: `server calls per minute, ${named(queues)}`, unit: '', better: 'less' as const },
  ]),
  suits: ({ manyQueues }) => manyQueues ?? false,
  maxRounds: 1,
  idle: true,
  onRequest: true,

  async measure(stage) {
    const figures: Record<string, number> = {};
    for (const queues of QUEUES) {
      const names = Array.from({ length: queues }, (_, i) => `queue-${i}`);
      const consumer = await stage.startConsumer();
      await consumer.ask('serveQueues', { names });
      await sleep(REST);
      const meter = await RedisMeter.start(stage.redis);
      await sleep(MINUTE);
      figures[`calls ${queues}`] = (await meter.stop()).calls;
      figures[`sockets ${queues}`] = await connections(stage);
      await consumer.end();
    }
    return figures;
  },
};

/** All but that of the benchmark. */
async function connections({ redis }: Stage): Promise<number> {
  return Number(/^connected_clients:(\d+)/m.exec(await redis.info('clients'))![1]) - 1;
}
