import type { Redis } from 'ioredis';

/** The processor time of a server, ms; unlike elapsed time, it is the same on a busy machine. */
export async function computedTime(redis: Redis): Promise<number> {
  const info = await redis.info('cpu');
  const seconds = [...info.matchAll(/^used_cpu_(?:user|sys)_main_thread:([\d.]+)/gm)].map(([, value]) => Number(value));
  return 1000 * seconds.reduce((sum, value) => sum + value, 0);
}
