import { Redis } from 'ioredis';
import { until } from '../until.js';
import { startRedis } from './start-redis.js';
import type { TestRedis } from './test-redis.js';

const NAME = 'shop';
const REPLICAS = 2;
const SENTINELS = 3;

/** The number of sentinels that must agree that the primary is gone. */
const QUORUM = 2;

/** The time for which the primary may be silent before a sentinel counts it as gone, ms. */
const DOWN_AFTER = 1000;

/** The time at which the sentinels give up a failover, ms. */
const FAILOVER_TIMEOUT = 4 * DOWN_AFTER;

/** Longer than any failover. */
const SETTLE_TIMEOUT = 20_000;

/** A primary with two replicas, and three sentinels that watch them. All of them may crash, freeze and come back. */
export class RedisSentinels {
  private constructor(
    readonly servers: readonly TestRedis[],
    readonly sentinels: readonly TestRedis[],
  ) {}

  /**
   * Starts all of them. The caller must `stop()` them.
   *
   * @param args - more arguments of every server
   * @param downAfter - the time for which the primary may be silent before a sentinel counts it as gone, ms
   */
  static async start(args: readonly string[] = [], downAfter = DOWN_AFTER): Promise<RedisSentinels> {
    // Others would wait for more replicas to join the same transfer.
    const ofAll = ['--repl-diskless-sync-delay', '0', ...args];
    const started: TestRedis[] = [];
    const start = async (options: Parameters<typeof startRedis>[0]) => {
      const server = await startRedis(options);
      started.push(server);
      return server;
    };
    try {
      const primary = await start({ args: ofAll });
      const replicaOf = ['--replicaof', primary.host, String(primary.port)];
      const replicas = await Promise.all(
        Array.from({ length: REPLICAS }, () => start({ args: [...ofAll, ...replicaOf] })),
      );
      await until(() => isReplicated(primary), { within: SETTLE_TIMEOUT });
      const config = sentinelConfig(primary, downAfter);
      const sentinels = await Promise.all(
        Array.from({ length: SENTINELS }, () => start({ config, args: ['--sentinel'] })),
      );
      const all = new RedisSentinels([primary, ...replicas], sentinels);
      await all.untilWhole();
      return all;
    } catch (error) {
      await Promise.all(started.map((server) => server.stop()));
      throw error;
    }
  }

  /** The options with which clients find the primary. */
  get connection(): { sentinels: { host: string; port: number }[]; name: string } {
    return { sentinels: this.sentinels.map(({ host, port }) => ({ host, port })), name: NAME };
  }

  /** The server that is the primary now, as most sentinels see it. */
  async primary(): Promise<TestRedis> {
    const views = await Promise.allSettled(
      this.#up.map((sentinel) => ask(sentinel, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)),
    );
    const ports = views.flatMap((view) => (view.status === 'fulfilled' ? [Number((view.value as string[])[1])] : []));
    const votes = (port: number) => ports.filter((each) => each === port).length;
    const primary = this.servers.find(({ port }) => 2 * votes(port) > ports.length);
    if (!primary) throw new Error('The sentinels do not agree on the primary.');
    return primary;
  }

  /** A failover on demand: the old primary becomes a replica. */
  async failOver(): Promise<void> {
    const former = await this.primary();
    const begin = async () => {
      await ask(this.#up[0]!, 'SENTINEL', 'FAILOVER', NAME);
      await this.untilReplaced(former, FAILOVER_TIMEOUT);
      return true;
    };
    // Sentinels refuse one right after another, and give one up that the replica does not confirm in time.
    await until(begin, { within: SETTLE_TIMEOUT, every: 500 });
    await this.untilWhole();
  }

  /** Waits until another server is the primary; for after the former one was killed or frozen. */
  async untilReplaced(former: TestRedis, within = SETTLE_TIMEOUT): Promise<void> {
    await until(async () => (await this.primary()) !== former, { within, every: 50 });
  }

  /** Resolves when every sentinel knows the others and both replicas, and all of them are in order. */
  async untilWhole(): Promise<void> {
    await until(
      async () => {
        const states = await Promise.all(this.#up.map((sentinel) => this.#stateSeenBy(sentinel)));
        return states.every(
          (state) =>
            state.get('num-other-sentinels') === String(SENTINELS - 1) &&
            state.get('num-slaves') === String(REPLICAS) &&
            state.get('flags') === 'master',
        );
      },
      { within: SETTLE_TIMEOUT, every: 50 },
    );
    await until(async () => isReplicated(await this.primary()), { within: SETTLE_TIMEOUT, every: 50 });
  }

  async stop(): Promise<void> {
    await Promise.all([...this.sentinels, ...this.servers].map((server) => server.stop()));
  }

  get #up(): TestRedis[] {
    return this.sentinels.filter(({ pid }) => pid !== undefined);
  }

  async #stateSeenBy(sentinel: TestRedis): Promise<Map<string, string>> {
    const words = (await ask(sentinel, 'SENTINEL', 'MASTER', NAME)) as string[];
    return new Map(words.flatMap((word, i) => (i % 2 === 0 ? [[word, words[i + 1]!]] : [])));
  }
}

function sentinelConfig({ host, port }: TestRedis, downAfter: number): string {
  return [
    `sentinel monitor ${NAME} ${host} ${port} ${QUORUM}`,
    `sentinel down-after-milliseconds ${NAME} ${downAfter}`,
    `sentinel failover-timeout ${NAME} ${FAILOVER_TIMEOUT}`,
    '',
  ].join('\n');
}

/** True if all replicas are connected to a primary. */
async function isReplicated(primary: TestRedis): Promise<boolean> {
  return String(await ask(primary, 'INFO', 'replication')).includes(`connected_slaves:${REPLICAS}`);
}

/** Sends a command to a server, which has a second to answer: a frozen one never does. */
export async function ask({ url }: TestRedis, command: string, ...words: string[]): Promise<unknown> {
  const redis = new Redis(url, {
    retryStrategy: null,
    maxRetriesPerRequest: 0,
    connectTimeout: 1000,
    commandTimeout: 1000,
  });
  redis.on('error', () => undefined);
  try {
    return await redis.call(command, ...words);
  } finally {
    redis.disconnect();
  }
}
