import type { Events } from '../../events/events.js';
import type { Clock } from '../../timing/clock.js';
import type { EntryFormat } from '../../delay-queue.options.js';
import type { MessageState } from '../../message/message.js';
import {
  type Claim,
  type ClaimReport,
  type ClaimRequest,
  type DeadPage,
  type DeadSelection,
  type DelayedValues,
  type Doorbell,
  type DueListener,
  type DueTime,
  type MessageStore,
  type Offer,
  type OfferReceipt,
  type QueueStatus,
  type RepairReport,
  type Settlement,
  type SettleReport,
  type StoredMessage,
  type StoreLimits,
  type TransferReport,
  type TransferRequest,
  LEASE_EXPIRED,
} from '../message-store.js';
import type { NativeKeys } from '../native/native.keys.js';
import { readRecord } from '../native/native.record.js';
import { NativeMessageStore } from '../native/native.store.js';
import {
  claimArguments,
  dueArgument,
  endedKeys,
  readClaimReport,
  readQueueStatus,
  readReceipts,
  readRepairReport,
  readTransferReport,
  REPAIR_PART,
} from '../native/script-values.js';
import type { ScriptArgument } from '../redis/redis-commands.js';
import type { RedisConnections } from '../redis/redis-connections.js';
import type { RedisScript } from '../redis/redis-script.js';
import type { ScriptReply } from '../redis/script-reply.js';
import { type RedissonKeys, redissonKeys, type RedissonQueueName } from './redisson.keys.js';
import { redissonScripts as scripts } from './redisson.scripts.js';
import { RedissonValues } from './redisson.values.js';
import { TargetWatch } from './target-watch.js';

export interface RedissonStoreOptions extends RedissonQueueName {
  readonly limits: StoreLimits;
  readonly format: EntryFormat;
  readonly clock: Clock;
  readonly events: Events;
  /** How long a wait for values of others blocks, ms. */
  readonly blockTimeout: number;
}

/** The error of a dead letter that was an entry nobody can read. */
const UNREADABLE = JSON.stringify({
  name: 'UnreadableEntry',
  message: 'The entry is in neither format of Redisson; the payload is its bytes.',
});

/**
 * The messages of one queue of Redisson's: offered to its structures, transferred to its target list, visible to its clients
 * all the while. What a consumer here claims goes on in the native bookkeeping: leases, attempts, retries, dead letters.
 */
export class RedissonMessageStore implements MessageStore {
  readonly delayedValues: DelayedValues;
  readonly #connections: RedisConnections;
  readonly #clock: Clock;
  readonly #native: NativeMessageStore;
  readonly #keys: RedissonKeys & NativeKeys;
  readonly #limits: StoreLimits;
  readonly #format: EntryFormat;
  readonly #target: TargetWatch;
  /** What is to be added to the monotonic clock for that of Redis; null: not known yet. */
  #redisClock: number | null = null;

  constructor(connections: RedisConnections, options: RedissonStoreOptions) {
    const { queue, limits, format, clock, events, blockTimeout } = options;
    this.#connections = connections;
    this.#clock = clock;
    this.#keys = redissonKeys(options);
    this.#native = new NativeMessageStore(connections, { keys: this.#keys, limits });
    this.delayedValues = new RedissonValues(connections.commands, this.#keys);
    this.#limits = limits;
    this.#format = format;
    const open = () => connections.openListWatch(this.#keys.target);
    this.#target = new TargetWatch({ queue, open, clock, events, blockTimeout });
  }

  async offer(offers: readonly Offer[]): Promise<OfferReceipt[]> {
    if (offers.length === 0) return [];
    const { timeouts, entries, target, offered, values, sequence, messages, channel } = this.#keys;
    const { delayed, ready, claims, leases, attempts, dead, errors } = this.#keys;
    const args: ScriptArgument[] = [channel, this.#limits.maxMessages ?? 0, this.#format];
    for (const offer of offers) args.push(offer.id, dueArgument(offer.due), offer.onDuplicate, offer.body);
    const keys = [timeouts, entries, target, offered, values, sequence, messages];
    if (offers.some(({ onDuplicate }) => onDuplicate === 'replace')) {
      keys.push(delayed, ready, claims, leases, attempts, dead, errors);
    }
    return readReceipts(await this.#run(scripts.offer, keys, args), offers.length);
  }

  async cancel(id: string): Promise<boolean> {
    const { timeouts, entries, offered, values, messages } = this.#keys;
    const outcome = (await this.#run(scripts.cancel, [timeouts, entries, offered, values, messages], [id])).text();
    return outcome === 'unknown' ? this.#native.cancel(id) : outcome === 'cancelled';
  }

  async reschedule(id: string, due: DueTime): Promise<boolean> {
    const { timeouts, offered, messages, values, channel } = this.#keys;
    const args = [id, dueArgument(due), channel];
    const outcome = (await this.#run(scripts.reschedule, [timeouts, offered, messages, values], args)).text();
    return outcome === 'unknown' ? this.#native.reschedule(id, due) : outcome === 'moved';
  }

  async find(id: string): Promise<StoredMessage | null> {
    const { timeouts, target, offered, messages } = this.#keys;
    const reply = await this.#run(scripts.find, [timeouts, target, offered, messages], [id]);
    const state = reply.text();
    if (state === 'unknown') return this.#native.find(id);
    if (state === 'taken') return null;
    const record = readRecord(reply.bytes());
    return { id, state: state as MessageState, ...record, failedAttempts: 0, leasedUntil: null };
  }

  async transfer({ scheduler, limit }: TransferRequest): Promise<TransferReport> {
    const { timeouts, entries, target, offered, values } = this.#keys;
    const { delayed, ready, claims, leases, attempts, messages, dead, errors, wake, mover, paused } = this.#keys;
    const native = [delayed, ready, claims, leases, attempts, messages, dead, errors, wake, mover, paused];
    const { attempts: maxAttempts, maxDeadLetters } = this.#limits;
    const args = [scheduler, limit, maxAttempts, maxDeadLetters, JSON.stringify(LEASE_EXPIRED), UNREADABLE];
    const reply = await this.#target.whileMoving(() =>
      this.#run(scripts.transfer, [timeouts, entries, target, offered, values, ...native], args),
    );
    const { now, report } = readTransferReport(reply);
    this.#redisClock = now - this.#clock.monotonic();
    this.#target.note(reply.number());
    return report;
  }

  async claim(request: ClaimRequest): Promise<ClaimReport> {
    const { target, timeouts, offered, values, sequence } = this.#keys;
    const { ready, claims, leases, messages, attempts, wake, paused } = this.#keys;
    const native = [ready, claims, leases, messages, attempts, wake, paused, ...endedKeys(this.#keys, request)];
    const keys = [target, timeouts, offered, values, sequence, ...native];
    const report = readClaimReport(await this.#run(scripts.claim, keys, claimArguments(request)));
    if (report.messages.length > 0 && !report.more) this.#target.note(0);
    return report;
  }

  extend(claims: readonly Claim[], lease: number): Promise<string[]> {
    return this.#native.extend(claims, lease);
  }

  settle(settlements: readonly Settlement[]): Promise<SettleReport> {
    return this.#native.settle(settlements);
  }

  async repair(cursor = ''): Promise<RepairReport> {
    const { messages, delayed, ready, claims, dead, wake, paused, offered } = this.#keys;
    const keys = [messages, delayed, ready, claims, dead, wake, paused, offered];
    return readRepairReport(await this.#run(scripts.repair, keys, [cursor, REPAIR_PART]));
  }

  async status(): Promise<QueueStatus> {
    const { timeouts, target, delayed, ready, claims, dead, paused } = this.#keys;
    return readQueueStatus(await this.#run(scripts.status, [timeouts, target, delayed, ready, claims, dead, paused]));
  }

  pause(): Promise<void> {
    return this.#native.pause();
  }

  async resume(): Promise<void> {
    const { paused, ready, target, wake } = this.#keys;
    await this.#run(scripts.resume, [paused, ready, target, wake]);
  }

  async clear(): Promise<number> {
    const { timeouts, entries, target, offered, values, messages, claims, attempts, errors } = this.#keys;
    const { delayed, leases, dead, ready, wake, mover } = this.#keys;
    const keys = [timeouts, entries, target, offered, values, messages, claims, attempts, errors];
    return (await this.#run(scripts.clear, [...keys, delayed, leases, dead, ready, wake, mover])).number();
  }

  listDead(page: { cursor: string | undefined; limit: number }): Promise<DeadPage> {
    return this.#native.listDead(page);
  }

  redrive(selection: DeadSelection): Promise<number> {
    return this.#native.redrive(selection);
  }

  discard(selection: DeadSelection): Promise<number> {
    return this.#native.discard(selection);
  }

  watchDue(listener: DueListener): () => void {
    const stops = [
      this.#native.watchDue(listener),
      this.#connections.announcements.listen(this.#keys.channel, {
        onListening: () => listener.onListening(),
        onMessage: (text) => {
          const dueAt = Number(text);
          if (Number.isFinite(dueAt)) listener.onEarlierDue({ dueAt, dueIn: Math.max(0, dueAt - this.#redisNow()) });
        },
      }),
      this.#target.watch(() => listener.onEarlierDue({ dueAt: this.#redisNow(), dueIn: 0 })),
    ];
    return () => stops.forEach((stop) => stop());
  }

  openDoorbell(): Doorbell {
    return this.#native.openDoorbell();
  }

  /** Redisson announces an instant and no length of time. Until the first transfer this process' own clock must do. */
  #redisNow(): number {
    return this.#redisClock === null ? this.#clock.wall() : this.#redisClock + this.#clock.monotonic();
  }

  #run(script: RedisScript, keys: readonly string[], args?: readonly ScriptArgument[]): Promise<ScriptReply> {
    return this.#connections.commands.run(script, keys, args);
  }
}
