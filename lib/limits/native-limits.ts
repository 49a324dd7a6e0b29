import { hasCode } from '../message/failure.js';
import type { RedisConnections } from '../redis/redis-connections.js';
import { LIMITS_CHANGED } from '../store/native/script-replies.js';
import { groupKeys, nativeKeys } from '../store/native/native-keys.js';
import type { CancelTimer } from '../timing/clock.js';
import { type LimitsRegistry, parseLimits, type SetLimits } from './set-limits.js';

/** How often limits are read again, in case an announcement got lost, ms. */
const CHECK_INTERVAL = 60_000;

/**
 * The limits that were set for queues in Redis: one hash for all queues, which a process that claims messages reads once and then once a
 * minute. Changes are announced on the channels of the queue, to which its processes listen anyway.
 */
export class NativeLimits implements LimitsRegistry {
  readonly #key: string;
  #set: ReadonlyMap<string, SetLimits> = new Map();
  #isKnown = false;
  #reading: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #cancelTimer: CancelTimer | undefined;
  #isStopped = false;

  constructor(
    private readonly connections: RedisConnections,
    private readonly prefix: string,
  ) {
    this.#key = limitsKey(prefix);
  }

  /** Resolves once the limits have been read for the first time; undefined if they have been. */
  get known(): Promise<void> | undefined {
    return this.#isKnown ? undefined : this.refresh();
  }

  of(queue: string): SetLimits | undefined {
    return this.#set.get(queue);
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
    await Promise.all([nativeKeys, groupKeys].map((keys) => this.#announce(keys(this.prefix, queue).due)));
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

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer?.();
  }

  async #read(): Promise<void> {
    const set = new Map<string, SetLimits>();
    try {
      const reply = await this.connections.commands.send('HGETALL', this.#key);
      const fields = reply.rest((each) => each.text());
      for (let at = 0; at < fields.length; at += 2) {
        const limits = parseLimits(fields[at + 1]!);
        if (limits) set.set(fields[at]!, limits);
      }
    } catch (error) {
      // A user who may not read them cannot keep to them. Everything else works.
      if (!hasCode(error, 'STORE_REFUSED')) throw error;
    }
    this.#set = set;
    if (!this.#isKnown) this.#readLater();
    this.#isKnown = true;
  }

  #readLater(): void {
    if (this.#isStopped) return;
    this.#cancelTimer = this.connections.clock.schedule(() => {
      void this.refresh()
        .catch(() => undefined)
        .then(() => this.#readLater());
    }, CHECK_INTERVAL);
  }

  async #announce(channel: string): Promise<void> {
    const { announcements, commands } = this.connections;
    const announced = await commands.send(announcements.command, channel, LIMITS_CHANGED);
    // Listeners to a channel pattern receive only what PUBLISH sends.
    if (announced.number() === 0 && announcements.command === 'SPUBLISH')
      await commands.send('PUBLISH', channel, LIMITS_CHANGED);
  }
}

/** HASH queue → its limits, JSON: see `SetLimits`. */
export function limitsKey(prefix: string): string {
  return `${prefix}:{@queues}:limits`;
}
