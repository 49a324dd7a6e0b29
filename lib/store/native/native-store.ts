import {
  type Announcer,
  type Claim,
  type ClaimedTransfer,
  type ClaimReport,
  type ClaimRequest,
  type DueListener,
  type Handling,
  keepsId,
  type Settlement,
  type SettleReport,
  type TransferReport,
  type TransferRequest,
  type WakeSignal,
} from '../consumer-store.js';
import type {
  Change,
  ChangeOutcome,
  DueTime,
  Offer,
  OfferReceipt,
  RepeatPause,
  RepeatPauseOutcome,
} from '../producer-store.js';
import type { RestoreOutcome, ScannedEntry, ScannedId, ScannedPage, ScannedPast } from '../message-past.js';
import type { MessageStore, Rate, StoreLimits } from '../message-store.js';
import type { Reach } from '../../redis/connection/redis-connection.js';
import type {
  DeadSelection,
  StoredPage,
  PageRequest,
  QueueStatus,
  RedriveOptions,
  RepairReport,
  StoredMessage,
  TypeCountPage,
} from '../admin-store.js';
import { MAX_BATCH } from '../../message/page.js';
import type { MessageBody } from '../../message/codec/message-codec.js';
import { MAX_DELAY } from '../../message/duration.js';
import { hashSlot } from '../../redis/cluster/hash-slot.js';
import {
  type Announcing,
  acceptsArgument,
  activeArgument,
  changeArguments,
  claimCall,
  claimedTransferCall,
  digestOf,
  dueArgument,
  groupArguments,
  handlingArguments,
  idPlace,
  isHandled,
  mayBeOversized,
  offerAccepted,
  offerArguments,
  pageArguments,
  rateArgument,
  REPAIR_PART,
  restoreArguments,
  restoredRecord,
  SCAN_PART,
  selectionArguments,
  settlementArguments,
  transferArguments,
} from './script-arguments.js';
import type { RedisConnections } from '../../redis/redis-connections.js';
import type { RedisFunction } from '../../redis/script/redis-library.js';
import type { ScriptCall, ScriptReply } from '../../redis/script/script-call.js';
import type { NativeKeys } from './native-keys.js';
import {
  LIMITS_CHANGED,
  readAnnouncement,
  readClaimedTransfer,
  readClaimReport,
  readFound,
  readHandled,
  readKeepingReport,
  readQueueStatus,
  readReceipts,
  readRepairReport,
  readScannedHistory,
  readScannedIds,
  readScannedPage,
  readSettleReport,
  readStoredPage,
  readTransferReport,
  readTypeCounts,
  repartitioned,
} from './script-replies.js';
import { nativeFunctions as functions } from './native-library.js';

export interface NativeStoreOptions {
  readonly keys: NativeKeys;
  readonly limits: StoreLimits;
  /**
   * The partitioning assumed by calls about single messages. A partition with another partitioning refuses them with `Repartitioned`.
   * Default: none, because this is the only partition.
   */
  readonly partitioning?: KnownPartitioning;
  /** The rules for messages with groups, in the form that `lua/modules/groups.lua` describes. */
  readonly groups?: string;
  /** How many messages of a group may be claimed within a length of time. Absent: any number. */
  readonly groupRate?: Rate | undefined;
  /** The keys of the queue's other messages: of those with groups, or of those without. Absent if there are none. */
  readonly others?: NativeKeys | undefined;
}

/** A queue's partitioning in the form that its stores send. It may change. */
export interface KnownPartitioning {
  readonly text: string;
}

type NativeFunction = RedisFunction<keyof NativeKeys>;
type NativeCall = Omit<ScriptCall, 'keys'>;

const NONE: KnownPartitioning = { text: '' };

/** Maximum number of bytes before a body in an outcome's argument: a delay and a line feed. */
const MAX_DETAIL = 32;

const mayReplace = ({ onDuplicate }: Offer) => onDuplicate === 'replace';

/** True if no two of the offers have the same id. Generated ids need no comparison. */
const haveOwnIds = (offers: readonly Offer[]) =>
  offers.length === 1 ||
  offers.every(({ isNew }) => isNew) ||
  new Set(offers.map(({ id }) => id)).size === offers.length;

/** Maximum number of handled messages whose records one call copies. Each may be as large as a payload. */
const MAX_RECORDS_KEPT = 32;

/** How settlements are sent, and their reports read. */
const SETTLING = { called: functions.settle, readReport: readSettleReport, isBrief: isHandled };
/** The same, if ids of theirs are kept. */
const SETTLING_AND_KEEPING = { called: functions.settleAndKeep, readReport: readKeepingReport, isBrief: keepsId };

/** How many entries or ids a store keeps at most if the options of this process do not say it: as many as they may allow. */
const MAX_KEPT = 10_000_000;

/** What is restored, by the rules of this process, if it has some. `of`: further arguments. */
interface Restoring {
  readonly scanned: ScannedId;
  readonly rules: { readonly for: number; readonly max: number } | null | undefined;
  readonly of: Readonly<Record<string, string | Buffer>>;
}

/** A value for `maxMessages` with which no message is created. */
const NONE_NEW = -1;

/** The messages of one partition in Redis, in the native layout. The logic is in the Redis functions that this class calls. */
export class NativeMessageStore implements MessageStore {
  readonly #connections: RedisConnections;
  readonly #keys: NativeKeys;
  readonly #limits: StoreLimits;
  readonly #partitioning: KnownPartitioning;
  readonly #groups: string | undefined;
  readonly #groupRate: Rate | undefined;
  readonly #others: NativeKeys | undefined;
  #slot: number | undefined;

  constructor(connections: RedisConnections, options: NativeStoreOptions) {
    const { keys, limits, partitioning = NONE, groups, groupRate, others } = options;
    this.#connections = connections;
    this.#keys = keys;
    this.#limits = limits;
    this.#partitioning = partitioning;
    this.#groups = groups;
    this.#groupRate = groupRate;
    this.#others = others;
  }

  /** The known state of the connection to the messages' server. */
  get reach(): Reach {
    return this.#connections.servers.reachOf((this.#slot ??= hashSlot(this.#keys.messages)));
  }

  /** @param maxMessages - the maximum number of messages in the queue; 0: no limit */
  offer(offers: readonly Offer[], maxMessages = this.#limits.maxMessages ?? 0): Promise<OfferReceipt[]> {
    if (!offers.some(mayBeOversized)) return this.#writeOffers(offers, maxMessages);
    const { commands } = this.#connections;
    return offerAccepted(commands, this.#keys.paused, offers, (accepted) => this.#writeOffers(accepted, maxMessages));
  }

  /** Like {@link offer}, but creates no messages. The receipt for an id that is not in use is undefined. */
  async offerIfPresent(offers: readonly Offer[]): Promise<(OfferReceipt | undefined)[]> {
    const receipts = await this.offer(offers, NONE_NEW);
    return receipts.map((receipt) => (receipt.outcome === 'full' ? undefined : receipt));
  }

  async #writeOffers(offers: readonly Offer[], maxMessages: number): Promise<OfferReceipt[]> {
    if (offers.length === 0) return [];
    const { channel, database } = this.#announcing;
    const args = { channel, database, partitioning: this.#partitioning.text };
    const { notAfter, past } = offers[0]!;
    const { writes } = this.#connections;
    if (past) {
      const call = { args: { ...args, maxMessages }, rest: restoreArguments(offers), notAfter };
      return readReceipts(await this.#passOn(this.#run(functions.restore, call, writes), writes), offers.length);
    }
    const { idsFor } = this.#limits;
    // Nobody can have offered a generated id before.
    const looksForKept = idsFor && !offers.every(({ isNew }) => isNew);
    const called = looksForKept ? functions.offerUnlessKept : functions.offer;
    const ofCall = looksForKept ? { ...args, keptFor: idsFor.for } : args;
    const rest = offerArguments(offers);
    if (maxMessages === 0 && !offers.some(mayReplace) && haveOwnIds(offers)) {
      const reply = await this.#run(called, { args: ofCall, rest, notAfter, further: 0 }, writes);
      if (!reply.done) return readReceipts(reply, offers.length);
    }
    const call = this.#complete({ args: { ...ofCall, maxMessages }, rest, notAfter });
    const reply = this.#run(called, call, writes);
    return readReceipts(await (offers.some(mayReplace) ? this.#passOn(reply, writes) : reply), offers.length);
  }

  async cancel(id: string, notAfter?: number): Promise<boolean> {
    const args = { id, partitioning: this.#partitioning.text };
    const reply = await this.#run(functions.cancel, { args, notAfter }, this.#connections.writes);
    return reply.ifCopied(reply.flag());
  }

  async reschedule(id: string, due: DueTime, notAfter?: number): Promise<boolean> {
    const args = { id, due: dueArgument(due), ...this.#announcing, partitioning: this.#partitioning.text };
    const reply = await this.#run(functions.reschedule, { args, notAfter }, this.#connections.writes);
    return reply.ifCopied(reply.flag());
  }

  async change(id: string, change: Change): Promise<ChangeOutcome> {
    if ((await this.accepts(change.to)) === false) return 'oversized';
    const args = { ...changeArguments(id, change), ...this.#announcing, partitioning: this.#partitioning.text };
    const reply = await this.#run(functions.change, { args, notAfter: change.notAfter }, this.#connections.writes);
    const outcome = reply.text() as ChangeOutcome;
    if (outcome === 'changed') reply.ifCopied(true);
    return outcome;
  }

  async pauseRepeat(id: string, { resume }: RepeatPause): Promise<RepeatPauseOutcome> {
    const how = { resumeAt: resume ? dueArgument(resume) : '', bodyRead: resume ? digestOf(resume.from) : '' };
    const args = { id, partitioning: this.#partitioning.text, ...how, ...this.#announcing };
    const reply = await this.#run(functions.pauseRepeat, { args }, this.#connections.writes);
    const outcome = reply.text() as RepeatPauseOutcome;
    if (outcome === 'changed') reply.ifCopied(true);
    return outcome;
  }

  async find(id: string): Promise<StoredMessage | null> {
    const args = { id, partitioning: this.#partitioning.text };
    return readFound(id, await this.#run(functions.find, { args }));
  }

  async findHandled(id: string): Promise<StoredMessage | null> {
    const reply = await this.#connections.commands.send('HGET', this.#keys.history, id);
    return reply.done ? null : readHandled(id, reply.bytes());
  }

  async freeId(id: string): Promise<boolean> {
    const { idsFor } = this.#limits;
    if (!idsFor) return false;
    const args = { id, keptFor: idsFor.for, partitioning: this.#partitioning.text };
    return (await this.#run(functions.freeId, { args })).flag();
  }

  async transfer(request: TransferRequest): Promise<TransferReport> {
    const args = transferArguments(request, this.#limits, this.#announcing);
    const rest = activeArgument(this.#limits, this.#others?.claims);
    return readTransferReport(await this.#run(functions.transfer, { args, rest })).report;
  }

  async claim(request: ClaimRequest): Promise<ClaimReport> {
    const { known } = this.#limits;
    if (known) await known;
    const call = claimCall(request, this.#limits, this.#others?.claims);
    const withinRate = this.#groupRate ? this.#withGroupRate(call, this.#groupRate) : call;
    return readClaimReport(await this.#run(functions.claim, withinRate));
  }

  async transferAndClaim(claim: ClaimRequest, announcer?: Announcer): Promise<ClaimedTransfer | undefined> {
    const { known } = this.#limits;
    if (known) await known;
    const { rate, globalConcurrency } = this.#limits;
    if (rate || globalConcurrency || this.#groups !== undefined) return undefined;
    const call = claimedTransferCall(claim, announcer, this.#announcing);
    return readClaimedTransfer(await this.#run(functions.transferAndClaim, call));
  }

  async wake(): Promise<void> {
    await this.#run(functions.signal);
  }

  async extend<Held extends Claim>(claims: readonly Held[], lease: number): Promise<Held[]> {
    if (claims.length === 0) return [];
    const rest = claims.flatMap(({ id, token }) => [id, token]);
    const lost = (await this.#run(functions.extend, { args: { lease }, rest })).rest((reply) => reply.number());
    return lost.map((position) => claims[position - 1]!);
  }

  async settle(settlements: readonly Settlement[]): Promise<SettleReport> {
    if (settlements.length === 0) return { accepted: [], dropped: 0 };
    const { idsFor } = this.#limits;
    const keeps = idsFor && settlements.some(keepsId);
    const { called, readReport, isBrief } = keeps ? SETTLING_AND_KEEPING : SETTLING;
    const ofIds = keeps && { keptFor: idsFor.for, most: idsFor.max };
    const runs = settlementArguments(settlements, isBrief);
    if (this.#groups === undefined && settlements.every(isBrief)) {
      const reply = await this.#passOn(this.#run(called, ofIds ? { args: ofIds, rest: runs } : { rest: runs }));
      if (!reply.done) return readReport(reply, settlements.length);
    }
    const { channel, database } = this.#announcing;
    const args = { ...ofIds, channel, database, maxDead: this.#limits.maxDeadLetters };
    const call =
      this.#groups === undefined
        ? { args, rest: runs }
        : { args: { ...args, count: settlements.length }, rest: [...groupArguments(settlements), ...runs] };
    const reply = this.#passOn(this.#run(called, this.#complete(call)));
    return readReport(await reply, settlements.length);
  }

  async remember(handlings: readonly Handling[]): Promise<void> {
    const { history } = this.#limits;
    if (!history) return;
    const size = history.payloads ? MAX_RECORDS_KEPT : MAX_BATCH;
    const calls: Promise<unknown>[] = [];
    for (let first = 0; first < handlings.length; first += size) {
      const rest = handlingArguments(handlings.slice(first, first + size), history);
      const args = { keptFor: history.for, most: history.max };
      calls.push(this.#run(functions.remember, { args, rest, further: 0 }));
    }
    await Promise.all(calls);
  }

  async abort(id: string): Promise<boolean> {
    const args = { id, partitioning: this.#partitioning.text, ...this.#announcing };
    const { writes } = this.#connections;
    const reply = await this.#passOn(this.#run(functions.abort, { args }, writes), writes);
    return reply.ifCopied(reply.flag());
  }

  accepts(body: MessageBody): Promise<boolean> | undefined {
    const bytes = MAX_DETAIL + Buffer.byteLength(body);
    return acceptsArgument(this.#connections.commands, this.#keys.paused, bytes);
  }

  async repair(lease: number, cursor = ''): Promise<RepairReport> {
    const args = { cursor, lease, size: REPAIR_PART, maxDelay: MAX_DELAY, ...this.#announcing };
    return readRepairReport(await this.#run(functions.repair, { args }));
  }

  async status(): Promise<QueueStatus> {
    return readQueueStatus(await this.#run(functions.status));
  }

  async countTypes(cursor = ''): Promise<TypeCountPage> {
    return readTypeCounts(await this.#run(functions.countTypes, { args: { cursor } }));
  }

  async countDue(times: readonly number[]): Promise<readonly number[]> {
    return (await this.#run(functions.countDue, { rest: times })).rest((reply) => reply.number());
  }

  async pause(): Promise<void> {
    await this.#run(functions.pause);
  }

  async resume(): Promise<void> {
    await this.#run(functions.resume);
  }

  async clear(): Promise<number> {
    return (await this.#run(functions.clear)).number();
  }

  async list(request: PageRequest): Promise<StoredPage> {
    const { state } = request;
    return readStoredPage(state, await this.#run(functions.list, { args: { state, ...pageArguments(request) } }));
  }

  async scan(cursor = ''): Promise<ScannedPage> {
    return readScannedPage(await this.#run(functions.scan, { args: { cursor, size: SCAN_PART } }));
  }

  async scanHistory(cursor = ''): Promise<ScannedPast<ScannedEntry>> {
    return readScannedHistory(await this.#run(functions.scanHandled, { args: { cursor, size: SCAN_PART } }));
  }

  async scanKeptIds(cursor = ''): Promise<ScannedPast<ScannedId>> {
    const args = { ...idPlace(cursor), size: SCAN_PART };
    return readScannedIds(await this.#run(functions.scanKept, { args }), SCAN_PART);
  }

  async restoreHandled(scanned: ScannedEntry): Promise<RestoreOutcome> {
    const of = { entry: JSON.stringify(scanned.entry), record: restoredRecord(scanned) };
    return this.#restore(functions.restoreHandled, { scanned, rules: this.#limits.history, of });
  }

  restoreKeptId(scanned: ScannedId): Promise<RestoreOutcome> {
    return this.#restore(functions.restoreKept, { scanned, rules: this.#limits.idsFor, of: {} });
  }

  async #restore(called: NativeFunction, { scanned, rules, of }: Restoring): Promise<RestoreOutcome> {
    const { id, handledAt, until } = scanned;
    const ends = Math.min(until, handledAt + (rules?.for ?? Infinity));
    const common = { id, at: handledAt, ends, most: rules?.max ?? MAX_KEPT, partitioning: this.#partitioning.text };
    return (await this.#run(called, { args: { ...common, ...of } })).text() as RestoreOutcome;
  }

  async redrive(selection: DeadSelection, { unwrap = false }: RedriveOptions = {}): Promise<number> {
    const args = {
      ...selectionArguments(selection),
      partitioning: this.#partitioning.text,
      ...this.#announcing,
      unwrap: unwrap ? '1' : '',
    };
    return (await this.#run(functions.redrive, { args })).number();
  }

  async discard(selection: DeadSelection): Promise<number> {
    const args = { ...selectionArguments(selection), partitioning: this.#partitioning.text };
    return (await this.#run(functions.discard, { args })).number();
  }

  watchDue(listener: DueListener): () => void {
    const { announcements } = this.#connections;
    const limits = this.#limits;
    const unwatch = limits.watch?.(() => listener.onLimits?.());
    const leave = announcements.listen(this.#keys.due, {
      onListening: () => {
        limits.refresh?.();
        listener.onListening();
      },
      onMessage: (text) => {
        if (text === LIMITS_CHANGED) limits.refresh?.();
        else readAnnouncement(text, announcements.database, listener);
      },
    });
    return () => {
      leave();
      unwatch?.();
    };
  }

  catchUp(): Promise<void> {
    return this.#connections.announcements.catchUp(this.#keys.due);
  }

  openWakeSignal(): WakeSignal {
    return this.#connections.openWakeSignal(this.#keys.wake, () => this.wake());
  }

  /** Hot paths name these fields instead of spreading the object into arguments, which is measurably slower. */
  get #announcing(): Announcing {
    return { channel: this.#keys.due, database: this.#connections.announcements.databaseArgument };
  }

  /**
   * If the queue limits its active messages, wakes consumers after a call that may end claims. The first signal is sent right behind that
   * call. If a signal gets lost, the next transfer replaces it. The queue's other messages come first, and have the time of one call to claim,
   * so that both kinds alternate.
   */
  #passOn(reply: Promise<ScriptReply>, commands = this.#connections.commands): Promise<ScriptReply> {
    if (!this.#limits.globalConcurrency) return reply;
    const signal = (keys: NativeKeys) => commands.run(functions.signal, { keys }).catch(() => undefined);
    const signalled = this.#others ? signal(this.#others).then(() => signal(this.#keys)) : signal(this.#keys);
    return Promise.all([reply, signalled]).then(() => reply);
  }

  /** @throws Repartitioned */
  #run(called: NativeFunction, call: NativeCall = {}, commands = this.#connections.commands): Promise<ScriptReply> {
    const whole = this.#groups === undefined ? call : withGroups(called, call, this.#groups);
    return commands.run(called, { ...whole, keys: this.#keys }).catch(rethrow);
  }

  /** Adds what a claim needs for the rate of each group. */
  #withGroupRate(call: NativeCall, rate: Rate): NativeCall {
    const { database, channel } = this.#announcing;
    const groupRate = `${rateArgument(rate)} ${database} ${channel}`;
    return { ...call, further: 2, args: { ...call.args, groups: this.#groups!, groupRate } };
  }

  /** Adds the extra keys to a call of `offer` or `settle`. */
  #complete(call: NativeCall): NativeCall {
    if (this.#groups === undefined) return { ...call, further: 1 };
    return { ...call, further: 2, args: { ...call.args, groups: this.#groups } };
  }
}

/** Adds what a function needs for groups, unless the call says how many sets of keys and arguments it sends. */
function withGroups(called: NativeFunction, call: NativeCall, groups: string): NativeCall {
  if (call.further !== undefined || called.keys.length === 1) return call;
  return called.args.length === 1 ? { ...call, further: 1 } : { ...call, further: 1, args: { ...call.args, groups } };
}

/** @throws Repartitioned if the error says so, otherwise the error */
function rethrow(error: unknown): never {
  throw repartitioned(error) ?? error;
}
