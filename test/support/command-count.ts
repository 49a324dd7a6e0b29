import type { Redis } from 'ioredis';

/** Counts what a server carries out, what scripts call included; `INFO`, with which it looks, excluded. */
export class CommandCount {
  private constructor(
    private readonly redis: Redis,
    private readonly before: Map<string, number>,
  ) {}

  static async start(redis: Redis): Promise<CommandCount> {
    return new CommandCount(redis, await readCalls(redis));
  }

  /** Counts from the start of the server. */
  static sinceItsStart(redis: Redis): CommandCount {
    return new CommandCount(redis, new Map());
  }

  /** @returns the calls since the start, by command, without those that were not called */
  async stop(): Promise<Record<string, number>> {
    const calls = [...(await readCalls(this.redis))].map(
      ([command, count]) => [command, count - (this.before.get(command) ?? 0)] as const,
    );
    return Object.fromEntries(calls.filter(([command, count]) => count > 0 && command !== 'info'));
  }
}

async function readCalls(redis: Redis): Promise<Map<string, number>> {
  const info = await redis.info('commandstats');
  const lines = info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm);
  return new Map([...lines].map(([, command, calls]) => [command!, Number(calls)]));
}
