import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { encodeEntry } from '../entry.codec.js';
import type { RedissonLine } from '../java-build.js';
import { JavaPeer, type JavaQueue } from '../java-peer.js';
import type { Contestant, Handled, Schedule } from './contestant.js';
import { indexOf, OFFER_DELAY, payloadOf, payloads, randomDelay } from './messages.js';

/** As fast as Java can be: nothing is held back for a short life. */
const JVM_OPTIONS: readonly string[] = [];
/** Each blocks a connection, of which Redisson has 64 unless told otherwise. */
const CONSUMERS = 32;
const PRELOAD_BATCH = 1000;
const ID_BYTES = 8;

/** Real Redisson, in a Java process. */
export class RedissonContestant implements Contestant {
  #due = new Map<number, number>();

  private constructor(
    private readonly line: RedissonLine,
    private readonly java: JavaPeer,
    private readonly redis: Redis,
    readonly title: string,
  ) {}

  static async start(line: RedissonLine, url: string, redis: Redis): Promise<RedissonContestant> {
    const java = await JavaPeer.start(line, JVM_OPTIONS);
    return new RedissonContestant(line, java, redis, `Redisson ${await java.connect(url)}`);
  }

  /** Past Redisson, for the sake of time: the same entries in the same keys as if it had offered them. */
  async preload(queue: string, count: number): Promise<void> {
    const format = this.line === '4' ? 'Bc0Lc0' : 'dLc0';
    for (let from = 0; from < count; from += PRELOAD_BATCH) {
      const entries: Buffer[] = [];
      const scores: (Buffer | number)[] = [];
      for (let i = from; i < Math.min(count, from + PRELOAD_BATCH); i++) {
        const entry = encodeEntry({ format, id: randomBytes(ID_BYTES), value: Buffer.from(payloadOf(i)) });
        entries.push(entry);
        scores.push(Date.now() + randomDelay(), entry);
      }
      await this.redis
        .pipeline()
        .zadd(timeouts(queue), ...scores)
        .rpush(list(queue), ...entries)
        .exec();
    }
  }

  open(queue: string): Promise<void> {
    return this.java.startTransfer(javaQueue(queue));
  }

  offer(queue: string, count: number, callers: number): Promise<number> {
    return this.java.offerMany(javaQueue(queue), payloads(count), OFFER_DELAY, callers);
  }

  async handle(queue: string, count: number, until: number): Promise<Handled[]> {
    const taken = await this.java.drain(javaQueue(queue), count, CONSUMERS, until - Date.now());
    return taken.map(({ value, at }) => {
      const index = indexOf(value.value as string);
      return { index, due: this.#due.get(index)!, at };
    });
  }

  /** Redisson has no such call; the news of an earlier head is what an offer would publish. */
  async schedule(queue: string, schedule: Schedule): Promise<void> {
    this.#due = new Map(schedule);
    const look = this.redis.pipeline();
    for (const [index] of schedule) look.lindexBuffer(list(queue), index);
    const entries = (await look.exec())!.map(([, entry]) => entry as Buffer);
    await this.redis.zadd(timeouts(queue), 'XX', ...schedule.flatMap(([, due], i) => [due, entries[i]!]));
    const first = Math.min(...schedule.map(([, due]) => due));
    await this.redis.publish(`redisson_delay_queue_channel:{${queue}}`, String(first));
  }

  close(queue: string): Promise<void> {
    return this.java.stopTransfer(javaQueue(queue));
  }

  end(): Promise<void> {
    return this.java.end();
  }
}

function javaQueue(queue: string): JavaQueue {
  return { queue, codec: 'string' };
}

function timeouts(queue: string): string {
  return `redisson_delay_queue_timeout:{${queue}}`;
}

function list(queue: string): string {
  return `redisson_delay_queue:{${queue}}`;
}
