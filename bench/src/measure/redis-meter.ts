import type { Redis } from 'ioredis';

/** The work of a server over some time. */
export interface RedisWork {
  /** Commands, including those that scripts call. */
  readonly calls: number;
  /** Microseconds of processor time. */
  readonly cpu: number;
}

/** Measures the work of a server between {@link start} and {@link stop}. */
export class RedisMeter {
  private constructor(
    private readonly redis: Redis,
    private readonly before: RedisWork,
  ) {}

  static async start(redis: Redis): Promise<RedisMeter> {
    return new RedisMeter(redis, await read(redis));
  }

  async stop(): Promise<RedisWork> {
    const after = await read(this.redis);
    return { calls: after.calls - this.before.calls, cpu: after.cpu - this.before.cpu };
  }
}

/** The bytes that a server has allocated. */
export async function usedMemory(redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))![1]);
}

/** Commands of the benchmark itself. */
const OWN = new Set(['info', 'ping']);

async function read(redis: Redis): Promise<RedisWork> {
  const stats = await redis.info('commandstats');
  const cpu = await redis.info('cpu');
  let calls = 0;
  for (const [, command, count] of stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)) {
    if (!OWN.has(command!)) calls += Number(count);
  }
  const seconds = [...cpu.matchAll(/^used_cpu_(?:sys|user):([\d.]+)/gm)].reduce((sum, [, n]) => sum + Number(n), 0);
  return { calls, cpu: seconds * 1e6 };
}
