import { usedMemory } from '../measure/redis-meter.js';
import type { Scenario } from './scenario.js';

const SIZES = [50, 200, 2048];
const DAY = 86_400_000;

/** The memory of a pending message in Redis. */
export const memory: Scenario = {
  name: 'memory',
  title: 'Redis memory per message',
  figures: SIZES.map((bytes) => ({ key: `${bytes}`, title: `payload of ${bytes} bytes`, unit: 'B', better: 'less' })),
  // Memory does not depend on how busy the machine is.
  maxRounds: 1,

  async measure(stage) {
    // Enough that the hash tables of Redis are filled alike for all systems.
    const count = stage.pick({ quick: 20_000, full: 100_000 });
    const producer = await stage.startProducer();
    const bytesOf: Record<string, number> = {};
    for (const bytes of SIZES) {
      await stage.redis.flushall();
      const before = await usedMemory(stage.redis);
      await producer.ask('fill', { count, bytes, delay: { from: DAY, to: 2 * DAY } });
      bytesOf[bytes] = ((await usedMemory(stage.redis)) - before) / count;
    }
    return bytesOf;
  },
};
