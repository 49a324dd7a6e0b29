import { hasCode } from '../message/failure.js';
import type { RedisConnections } from '../redis/redis-connections.js';
import { LIMITS_CHANGED } from '../store/native/script-replies.js';
import { groupKeys, nativeKeys } from '../store/native/native-keys.js';
import type { CancelTimer } from '../timing/clock.js';
import { type LimitsRegistry, parseLimits, type SetLimits } from './set-limits.js';

/** The parts of {@link RedisConnections} that are needed. */
export interface LimitsConnections extends Pick<RedisConnections, 'publish'> {
  readonly commands: Pick<RedisConnections['commands'], 'send'>;
  readonly clock: Pick<RedisConnections['clock'], 'schedule'>;
}

/** The maximum time between two readings, ms. */
const CHECK_INTERVAL = 60_000;

/** How long after a failed reading the next one follows, ms. */
const RETRY = 1000;

/**
 * The limits that were set for queues in Redis: one hash for all queues. A process that claims messages reads it once, and again when a
 * change is announced on the channels of a queue, to which it listens anyway. In case an announcement gets lost, it also reads it
 * when the subscription is back, and after the shortest `checkInterval` of its queues.
 */
export class NativeLimits implements LimitsRegistry {
  readonly #key: string;
  #set: ReadonlyMap<string, { readonly text: string; readonly limits: SetLimits }> = new Map();
  readonly #listeners = new Set<{ readonly queue: string; readonly onChange: () => void }>();
  #checkInterval = CHECK_INTERVAL;
  #isKnown = false;
  #reading: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #cancelTimer: CancelTimer | undefined;
  #isRunning = false;

  constructor(
    private readonly connections: LimitsConnections,
    private readonly prefix: string,
  ) {
    this.#key = limitsKey(prefix);
  }

  /** Resolves once the limits have been read for the first time; undefined if they have been. */
  get known(): Promise<void> | undefined {
    return this.#isKnown ? undefined : this.refresh();
  }

  of(queue: string): SetLimits | undefined {
    return this.#set.get(queue)?.limits;
  }

  /** Makes sure that the limits are read again after so many ms. */
  checkEvery(ms: number): void {
    this.#checkInterval = Math.min(this.#checkInterval, ms);
  }

  /** Calls a function whenever other limits of a queue were read, until the returned function is called. */
  watch(queue: string, onChange: () => void): () => void {
    const listener = { queue, onChange };
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async read(queue: string): Promise<SetLimits | undefined> {
    const reply = await this.connections.commands.send('HGET', this.#key, queue);
    return reply.done ? undefined : parseLimits(reply.text());
  }

  async write(queue: string, limits: SetLimits | undefined): Promise<boolean> {
    const { commands } = this.connections;
    const former = await this.read(queue);
    if (limits) await commands.send('HSET', this.#key, queue, JSON.stringify(limits));
    else await commands.send('HDEL', this.#key, queue);
    // Only now, because whoever hears of the change reads it at once.
    const channels = [nativeKeys, groupKeys].map((keys) => keys(this.prefix, queue).due);
    await Promise.all(channels.map((channel) => this.connections.publish(channel, LIMITS_CHANGED)));
    if (this.#isKnown) await this.refresh();
    return former !== undefined;
  }

  /** Reads the limits. A call during another one reads them again after it, because they may have changed since. */
  refresh(): Promise<void> {
    if (!this.#reading) return (this.#reading = this.#read().finally(() => (this.#reading = undefined)));
    return (this.#next ??= this.#reading
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return this.refresh();
      }));
  }

  /** From now on, reads the limits again and again. Not earlier, because a timer would keep alive a process that has failed to start. */
  start(): void {
    this.#isRunning = true;
    if (this.#isKnown) this.#readIn(this.#checkInterval);
  }

  stop(): void {
    this.#isRunning = false;
    this.#cancelTimer?.();
  }

  async #read(): Promise<void> {
    try {
      const before = this.#set;
      this.#set = await this.#readAll();
      this.#isKnown = true;
      this.#readIn(this.#checkInterval);
      for (const { queue, onChange } of this.#listeners) {
        if (before.get(queue)?.text !== this.#set.get(queue)?.text) onChange();
      }
    } catch (error) {
      if (this.#isKnown) this.#readIn(RETRY);
      throw error;
    }
  }

  async #readAll() {
    const set = new Map<string, { text: string; limits: SetLimits }>();
    try {
      const reply = await this.connections.commands.send('HGETALL', this.#key);
      const fields = reply.rest((each) => each.text());
      for (let at = 0; at < fields.length; at += 2) {
        const [queue, text] = [fields[at]!, fields[at + 1]!];
        const limits = parseLimits(text);
        if (limits) set.set(queue, { text, limits });
      }
    } catch (error) {
      // A user who may not read them cannot keep to them. Everything else works.
      if (!hasCode(error, 'STORE_REFUSED')) throw error;
    }
    return set;
  }

  #readIn(delay: number): void {
    this.#cancelTimer?.();
    if (!this.#isRunning) return;
    this.#cancelTimer = this.connections.clock.schedule(() => void this.refresh().catch(() => undefined), delay);
  }
}

/** HASH queue → its limits, JSON: see `SetLimits`. */
export function limitsKey(prefix: string): string {
  return `${prefix}:{@queues}:limits`;
}
