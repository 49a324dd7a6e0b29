import { DelayQueueError, type MessageState } from 'nestjs-delay-queue';
import {
  type Claim,
  claimCall,
  type ClaimReport,
  type ClaimRequest,
  type Clock,
  type DeadSelection,
  dueArgument,
  type DueListener,
  type DueTime,
  type Events,
  mayBeOversized,
  type MessageBody,
  type MessageStore,
  type NativeKeys,
  NativeMessageStore,
  NO_TYPE,
  type Offer,
  offerAccepted,
  offerDueArgument,
  type OfferReceipt,
  pageArguments,
  type PageRequest,
  type QueueStatus,
  readClaimReport,
  readQueueStatus,
  readReceipts,
  readRecord,
  readStoredPage,
  readTransferReport,
  type RedisConnections,
  type RedisFunction,
  type RedriveOptions,
  type RepairReport,
  type ScriptArgument,
  type ScriptCall,
  type ScriptReply,
  type Settlement,
  type SettleReport,
  type StoredMessage,
  type StoredPage,
  type StoreLimits,
  transferArguments,
  type TransferReport,
  type TransferRequest,
  type TypeCountPage,
  type WakeSignal,
} from 'nestjs-delay-queue/layouts';
import type { EntryFormat } from './entry-format.js';
import { checkFormat } from './format-check.js';
import type { JavaCodecCheck } from './java-codec-check.js';
import { ListWatch } from './list-watch.js';
import { type RedissonKeys, redissonKeys, type RedissonQueueName } from './redisson-keys.js';
import { redissonFunctions as functions } from './redisson-library.js';
import { RedissonValues } from './redisson-values.js';
import { TargetWatch } from './target-watch.js';
import { valueDigest } from './value-digest.js';

export interface RedissonStoreOptions extends RedissonQueueName {
  readonly limits: StoreLimits;
  readonly format: EntryFormat;
  /** Default: the codec of Java is not checked. */
  readonly codecCheck?: JavaCodecCheck;
  readonly clock: Clock;
  readonly events: Events;
  /** How long a wait for values from other clients blocks, ms. */
  readonly blockTimeout: number;
}

/** How often offers look at what other clients have written, ms. */
const CHECK_INTERVAL = 10_000;

/** The error of a dead letter that was an unreadable entry. */
const UNREADABLE = JSON.stringify({
  name: 'UnreadableEntry',
  message: 'The entry is in neither of the formats of Redisson; the payload is its bytes.',
});

/**
 * The messages of one Redisson queue: offered to Redisson's structures, transferred to its target list, and visible to its clients all the
 * time. Once a consumer here has claimed them, the native store keeps them: leases, attempts, retries, dead letters.
 */
export class RedissonMessageStore implements MessageStore {
  /** The delayed messages by their bodies. */
  readonly delayedValues: RedissonValues;
  readonly #connections: RedisConnections;
  readonly #clock: Clock;
  readonly #native: NativeMessageStore;
  readonly #keys: RedissonKeys & NativeKeys;
  readonly #limits: StoreLimits;
  readonly #queue: string;
  readonly #format: EntryFormat;
  readonly #codecCheck: JavaCodecCheck | undefined;
  /** When to check others again, on the monotonic clock. */
  #checkOthersAt = -Infinity;
  readonly #target: TargetWatch;
  /** Where the next transfer continues in the list of entries, in terms of the function. */
  #readOn = 0;
  /** How far Redis' clock is ahead of the monotonic clock, ms; null if unknown yet. */
  #redisClock: number | null = null;

  constructor(connections: RedisConnections, options: RedissonStoreOptions) {
    const { queue, limits, format, codecCheck, clock, events, blockTimeout } = options;
    this.#connections = connections;
    this.#clock = clock;
    this.#keys = redissonKeys(options);
    this.#native = new NativeMessageStore(connections, { keys: this.#keys, limits });
    this.delayedValues = new RedissonValues(connections.commands, this.#keys);
    this.#limits = limits;
    this.#queue = queue;
    this.#format = format;
    this.#codecCheck = codecCheck;
    const open = () => new ListWatch(this.#keys.target, connections.openConnection(this.#keys.target));
    this.#target = new TargetWatch({ queue, open, clock, events, blockTimeout });
  }

  /**
   * Checks that the clients that wrote the delayed messages of the queue can read what is offered here.
   * @throws DelayQueueError `INVALID_OPTION`; others like any call
   */
  async checkFormat(): Promise<void> {
    await this.#checkEntries();
  }

  /** @returns some values that other clients have written */
  async #checkEntries(): Promise<Buffer[]> {
    const reply = await this.#run(functions.entryFormats);
    const [hasOld, hasNewOfRedisson] = [reply.number() === 1, reply.number() === 1];
    checkFormat(this.#queue, this.#format, { hasOld, hasNewOfRedisson });
    return reply.rest((value) => value.bytes());
  }

  /** Checks before the first offer, and again while it is not certain that Java uses the same codec. */
  async #checkOthers(): Promise<void> {
    const values = await this.#checkEntries();
    const isProven = this.#codecCheck?.check(values) ?? true;
    this.#checkOthersAt = isProven ? Infinity : this.#clock.monotonic() + CHECK_INTERVAL;
  }

  offer(offers: readonly Offer[]): Promise<OfferReceipt[]> {
    if (!offers.some(mayBeOversized)) return this.#write(offers);
    return offerAccepted(this.#connections.commands, this.#keys.paused, offers, (accepted) => this.#write(accepted));
  }

  async #write(offers: readonly Offer[]): Promise<OfferReceipt[]> {
    if (offers.length === 0) return [];
    if (this.#clock.monotonic() >= this.#checkOthersAt) await this.#checkOthers();
    try {
      return await this.#writeBeside(offers, '');
    } catch (error) {
      if (!isOtherFormat(error)) throw error;
    }
    // Another client has begun to write entries since.
    await this.checkFormat();
    return this.#writeBeside(offers, '1');
  }

  /** @param beside - `1`: any format of the last entry is allowed; otherwise it must be that of this queue */
  async #writeBeside(offers: readonly Offer[], beside: '' | '1'): Promise<OfferReceipt[]> {
    const maxMessages = this.#limits.maxMessages ?? 0;
    const args = { channel: this.#keys.channel, maxMessages, format: this.#format, beside };
    const called = offers.some(({ onDuplicate }) => onDuplicate === 'replace')
      ? functions.offerReplacing
      : functions.offer;
    const call = { keys: this.#keys, args, rest: offerArguments(offers), notAfter: offers[0]!.notAfter };
    return readReceipts(await this.#connections.writes.run(called, call), offers.length);
  }

  async cancel(id: string, notAfter?: number): Promise<boolean> {
    const reply = await this.#connections.writes.run(functions.cancel, { keys: this.#keys, args: { id }, notAfter });
    const outcome = reply.text();
    return outcome === 'unknown' ? this.#native.cancel(id, notAfter) : reply.ifCopied(outcome === 'cancelled');
  }

  async reschedule(id: string, due: DueTime, notAfter?: number): Promise<boolean> {
    const args = { id, due: dueArgument(due), channel: this.#keys.channel };
    const reply = await this.#connections.writes.run(functions.reschedule, { keys: this.#keys, args, notAfter });
    const outcome = reply.text();
    return outcome === 'unknown' ? this.#native.reschedule(id, due, notAfter) : reply.ifCopied(outcome === 'moved');
  }

  async find(id: string): Promise<StoredMessage | null> {
    const reply = await this.#run(functions.find, { args: { id } });
    const state = reply.text();
    if (state === 'unknown') return this.#native.find(id);
    if (state === 'taken') return null;
    const record = readRecord(reply.bytes());
    return { id, state: state as MessageState, ...record, failedAttempts: 0, leasedUntil: null, death: null };
  }

  async transfer(request: TransferRequest): Promise<TransferReport> {
    const { databaseArgument: database } = this.#connections.announcements;
    const common = transferArguments(request, this.#limits, { channel: this.#keys.due, database });
    const args = { ...common, unreadableError: UNREADABLE, readOn: this.#readOn };
    const reply = await this.#target.whileMoving(() => this.#run(functions.transfer, { args }));
    const { now, report } = readTransferReport(reply);
    this.#redisClock = now - this.#clock.monotonic();
    this.#target.note(reply.number());
    this.#readOn = reply.number();
    return report;
  }

  async claim(request: ClaimRequest): Promise<ClaimReport> {
    const report = readClaimReport(await this.#run(functions.claim, claimCall(request, this.#limits)));
    if (report.messages.length > 0 && !report.more && report.claimAgainIn === undefined) this.#target.note(0);
    return report;
  }

  async wake(): Promise<void> {
    await this.#run(functions.signal);
  }

  extend<Held extends Claim>(claims: readonly Held[], lease: number): Promise<Held[]> {
    return this.#native.extend(claims, lease);
  }

  settle(settlements: readonly Settlement[]): Promise<SettleReport> {
    return this.#native.settle(settlements);
  }

  abort(id: string): Promise<boolean> {
    return this.#native.abort(id);
  }

  accepts(body: MessageBody): Promise<boolean> | undefined {
    return this.#native.accepts(body);
  }

  repair(lease: number, cursor?: string): Promise<RepairReport> {
    return this.#native.repair(lease, cursor);
  }

  async status(): Promise<QueueStatus> {
    return readQueueStatus(await this.#run(functions.status));
  }

  /** Counts all on one page, because no message has a type. */
  async countTypes(): Promise<TypeCountPage> {
    const { counts } = await this.status();
    const rows = Object.entries(counts).map(([state, count]) => ({
      state: state as MessageState,
      type: NO_TYPE,
      count,
    }));
    return { counts: rows.filter(({ count }) => count > 0), cursor: null };
  }

  async countDue(times: readonly number[]): Promise<readonly number[]> {
    return (await this.#run(functions.countDue, { rest: times })).rest((reply) => reply.number());
  }

  pause(): Promise<void> {
    return this.#native.pause();
  }

  async resume(): Promise<void> {
    await this.#run(functions.resume);
  }

  async clear(): Promise<number> {
    return (await this.#run(functions.clear)).number();
  }

  async list(request: PageRequest): Promise<StoredPage> {
    const { state } = request;
    if (state === 'active' || state === 'dead') return this.#native.list(request);
    const called = state === 'delayed' ? functions.listDelayed : functions.listReady;
    return readStoredPage(state, await this.#run(called, { args: pageArguments(request) }));
  }

  redrive(selection: DeadSelection, options?: RedriveOptions): Promise<number> {
    return this.#native.redrive(selection, options);
  }

  discard(selection: DeadSelection): Promise<number> {
    return this.#native.discard(selection);
  }

  watchDue(listener: DueListener): () => void {
    const stops = [
      this.#native.watchDue(listener),
      this.#connections.announcements.listenToAny(this.#keys.channel, {
        onListening: () => listener.onListening(),
        // Java names no database, so the announcement may be of another one, which costs a call.
        onMessage: (text) => {
          const dueAt = Number(text);
          if (Number.isFinite(dueAt)) listener.onEarlierDue({ dueAt, dueIn: Math.max(0, dueAt - this.#redisNow()) });
        },
      }),
      this.#target.watch(() => listener.onEarlierDue({ dueAt: this.#redisNow(), dueIn: 0 })),
    ];
    return () => stops.forEach((stop) => stop());
  }

  catchUp(): Promise<void> {
    return this.#native.catchUp();
  }

  openWakeSignal(): WakeSignal {
    return this.#connections.openWakeSignal(this.#keys.wake, () => this.wake());
  }

  /**
   * Returns the time of Redis, because Redisson announces an instant rather than a duration. Until the first transfer, it is this process's
   * own.
   */
  #redisNow(): number {
    return this.#redisClock === null ? this.#clock.wall() : this.#redisClock + this.#clock.monotonic();
  }

  #run(
    called: RedisFunction<keyof (RedissonKeys & NativeKeys)>,
    call?: Omit<ScriptCall, 'keys'>,
  ): Promise<ScriptReply> {
    return this.#connections.commands.run(called, { ...call, keys: this.#keys });
  }
}

/** True if offers were refused because the last entry has another format. */
function isOtherFormat(error: unknown): boolean {
  if (!(error instanceof DelayQueueError) || error.code !== 'STORE_REFUSED') return false;
  return error.cause instanceof Error && error.cause.message.startsWith('FORMAT ');
}

/** The arguments of all offers, one after the other. The digests are made here, because Redis has less time to spare. */
function offerArguments(offers: readonly Offer[]): ScriptArgument[] {
  const args: ScriptArgument[] = [];
  for (const offer of offers) args.push(offer.id, offerDueArgument(offer), offer.body, valueDigest(offer.body));
  return args;
}
