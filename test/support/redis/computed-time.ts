import type { Redis } from 'ioredis';

/** What a server has computed so far, ms: unlike the time that passes, it is the same on a busy machine. */
export async function computedTime(redis: Redis): Promise<number> {
  const info = await redis.info('cpu');
  const seconds = [...info.matchAll(/^used_cpu_(?:user|sys)_main_thread:([\d.]+)/gm)].map(([, value]) => Number(value));
  return 1000 * seconds.reduce((sum, value) => sum + value, 0);
}
