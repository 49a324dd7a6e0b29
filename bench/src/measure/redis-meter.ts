import type { Redis } from 'ioredis';

/** What a server has done in some time. */
export interface RedisWork {
  /** Commands, those that scripts call included. */
  readonly calls: number;
  /** Microseconds of processor time. */
  readonly cpu: number;
}

/** Reads what a server has done so far; its own `INFO`s do not count. */
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

/** Bytes that a server has allocated. */
export async function usedMemory(redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))![1]);
}

/** Commands that make no work of a system: this process' own looks at the server. */
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
