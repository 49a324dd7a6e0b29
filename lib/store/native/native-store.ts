import type {
  Claim,
  ClaimedTransfer,
  ClaimReport,
  ClaimRequest,
  DueListener,
  Settlement,
  SettleReport,
  Teller,
  TransferReport,
  TransferRequest,
  WakeSignal,
} from '../consumer-store.js';
import type { Change, ChangeOutcome, DueTime, Offer, OfferReceipt } from '../producer-store.js';
import type { MessageStore, StoreLimits } from '../message-store.js';
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
import type { MessageBody } from '../../message/codec/message-codec.js';
import { LONGEST_DELAY } from '../../message/duration.js';
import { hashSlot } from '../../redis/cluster/hash-slot.js';
import { acceptsArgument, mayBeOversized, offerAccepted } from '../oversized-offers.js';
import type { RedisConnections } from '../../redis/redis-connections.js';
import type { RedisScript } from '../../redis/script/redis-script.js';
import type { ScriptCall } from '../../redis/script/script-call.js';
import type { ScriptReply } from '../../redis/script/script-reply.js';
import type { NativeKeys } from './native-keys.js';
import { type Announcing, readAnnouncement } from './announcements.js';
import { type NativeScripts, nativeScripts } from './native-scripts.js';
import {
  ackArguments,
  changeArguments,
  claimCall,
  claimedTransferArguments,
  dueArgument,
  groupArguments,
  newOfferArguments,
  offerArguments,
  pageArguments,
  REPAIR_PART,
  selectionArguments,
  settlementArguments,
  transferArguments,
} from './script-arguments.js';
import {
  readChangeOutcome,
  readClaimedTransfer,
  readClaimReport,
  readFound,
  readQueueStatus,
  readReceipts,
  withProblem,
  readRepairReport,
  readSettleReport,
  readStoredPage,
  readTransferReport,
  readTypeCounts,
  repartitioned,
} from './script-replies.js';

export interface NativeStoreOptions {
  readonly keys: NativeKeys;
  readonly limits: StoreLimits;
  /**
   * The partitioning that calls about single messages go by; a partition that has another one refuses them with
   * `Repartitioned`. Default: none, because there is only this partition.
   */
  readonly partitioning?: KnownPartitioning;
  /** Of messages that have groups: scripts that know of lanes, and their argument. */
  readonly lanes?: Lanes;
}

/** The partitioning of a queue as its stores send it, which may change. */
export interface KnownPartitioning {
  readonly text: string;
}

export interface Lanes {
  readonly scripts: NativeScripts;
  /** As in `lua/include/lanes.lua`. */
  readonly argument: string;
}

type SettleCall = Required<Pick<ScriptCall, 'rest'>> & Pick<ScriptCall, 'args'>;

const NONE: KnownPartitioning = { text: '' };

/** What comes before a body in an argument of an outcome, bytes: a delay and a line feed. */
const LONGEST_DETAIL = 32;

const mayReplace = ({ onDuplicate }: Offer) => onDuplicate === 'replace';
const isAck = ({ outcome }: Settlement) => outcome.kind === 'ack' && outcome.next === undefined;
const isAckOfGroup = (settlement: Settlement) => isAck(settlement) && settlement.claim.group !== undefined;

/** As a maximum number of messages: offers create none. */
const NONE_NEW = -1;

/** The messages of one partition of a queue in Redis, in this package's own layout. The logic is in the scripts; this class calls them. */
export class NativeMessageStore implements MessageStore {
  readonly #connections: RedisConnections;
  readonly #keys: NativeKeys;
  readonly #limits: StoreLimits;
  readonly #partitioning: KnownPartitioning;
  readonly #scripts: NativeScripts;
  readonly #lanes: Lanes | undefined;
  #slot: number | undefined;

  constructor(connections: RedisConnections, { keys, limits, partitioning = NONE, lanes }: NativeStoreOptions) {
    this.#connections = connections;
    this.#keys = keys;
    this.#limits = limits;
    this.#partitioning = partitioning;
    this.#scripts = lanes?.scripts ?? nativeScripts;
    this.#lanes = lanes;
  }

  /** What is known of the way to the server that has the messages. */
  get reach(): Reach {
    return this.#connections.servers.reachOf((this.#slot ??= hashSlot(this.#keys.messages)));
  }

  offer(offers: readonly Offer[]): Promise<OfferReceipt[]> {
    return this.#offer(offers, this.#limits.maxMessages ?? 0);
  }

  /** As {@link offer}, but creates nothing: undefined for ids that are not in use. */
  async offerIfPresent(offers: readonly Offer[]): Promise<(OfferReceipt | undefined)[]> {
    const receipts = await this.#offer(offers, NONE_NEW);
    return receipts.map((receipt) => (receipt.outcome === 'full' ? undefined : receipt));
  }

  #offer(offers: readonly Offer[], maxMessages: number): Promise<OfferReceipt[]> {
    if (!offers.some(mayBeOversized)) return this.#writeOffers(offers, maxMessages);
    const { commands } = this.#connections;
    return offerAccepted(commands, this.#keys.paused, offers, (accepted) => this.#writeOffers(accepted, maxMessages));
  }

  async #writeOffers(offers: readonly Offer[], maxMessages: number): Promise<OfferReceipt[]> {
    if (offers.length === 0) return [];
    const { channel, database } = this.#announcing;
    const partitioning = this.#partitioning.text;
    const { notAfter } = offers[0]!;
    if (maxMessages === 0 && !offers.some(mayReplace)) {
      const call = { args: { channel, database, partitioning }, rest: newOfferArguments(offers) };
      const reply = await this.#write(this.#scripts.offerNew, call, notAfter);
      if (!reply.done) {
        const receipts = reply.rest((due): OfferReceipt => ({ outcome: 'created', dueAt: due.number() }));
        return reply.notCopied ? withProblem(receipts, reply) : receipts;
      }
    }
    const args = { channel, database, maxMessages, partitioning };
    const reply = await this.#write(this.#scripts.offer, { args, rest: offerArguments(offers) }, notAfter);
    return readReceipts(reply, offers.length);
  }

  async cancel(id: string, notAfter?: number): Promise<boolean> {
    const args = { id, partitioning: this.#partitioning.text };
    const reply = await this.#write(this.#scripts.cancel, { args }, notAfter);
    return reply.ifCopied(reply.flag());
  }

  async reschedule(id: string, due: DueTime, notAfter?: number): Promise<boolean> {
    const args = { id, due: dueArgument(due), ...this.#announcing, partitioning: this.#partitioning.text };
    const reply = await this.#write(this.#scripts.reschedule, { args }, notAfter);
    return reply.ifCopied(reply.flag());
  }

  async change(id: string, change: Change): Promise<ChangeOutcome> {
    if ((await this.accepts(change.to)) === false) return 'oversized';
    const args = { ...changeArguments(id, change), ...this.#announcing, partitioning: this.#partitioning.text };
    const reply = await this.#write(this.#scripts.change, { args }, change.notAfter);
    const outcome = readChangeOutcome(reply);
    if (outcome === 'changed') reply.ifCopied(true);
    return outcome;
  }

  async find(id: string): Promise<StoredMessage | null> {
    const args = { id, partitioning: this.#partitioning.text };
    return readFound(id, await this.#runByPartitioning(this.#scripts.find, { args }));
  }

  async transfer(request: TransferRequest): Promise<TransferReport> {
    const args = transferArguments(request, this.#limits, this.#announcing);
    return readTransferReport(await this.#run(this.#scripts.transfer, { args })).report;
  }

  async claim(request: ClaimRequest): Promise<ClaimReport> {
    return readClaimReport(await this.#run(this.#scripts.claim, claimCall(request, this.#limits)));
  }

  async transferAndClaim(claim: ClaimRequest, teller?: Teller): Promise<ClaimedTransfer | undefined> {
    const { transferAndClaim } = this.#scripts;
    if (this.#limits.rate || !transferAndClaim) return undefined;
    const args = claimedTransferArguments(claim, teller, this.#announcing);
    return readClaimedTransfer(await this.#run(transferAndClaim, { args }));
  }

  async wake(): Promise<void> {
    await this.#run(this.#scripts.ring);
  }

  async extend<Held extends Claim>(claims: readonly Held[], lease: number): Promise<Held[]> {
    if (claims.length === 0) return [];
    const rest = claims.flatMap(({ id, token }) => [id, token]);
    const lost = (await this.#run(this.#scripts.extend, { args: { lease }, rest })).rest((reply) => reply.number());
    return lost.map((position) => claims[position - 1]!);
  }

  async settle(settlements: readonly Settlement[]): Promise<SettleReport> {
    if (settlements.length === 0) return { accepted: [], dropped: 0 };
    if (settlements.every(this.#lanes ? isAckOfGroup : isAck)) {
      const call = this.#ofGroups(settlements, { rest: ackArguments(settlements) });
      const reply = await this.#run(this.#scripts.ack, call);
      if (!reply.done) return { accepted: settlements.map(() => true), dropped: 0 };
    }
    const { channel, database } = this.#announcing;
    const args = { channel, database, maxDead: this.#limits.maxDeadLetters };
    const call = this.#ofGroups(settlements, { args, rest: settlementArguments(settlements) });
    return readSettleReport(await this.#run(this.#scripts.settle, call), settlements.length);
  }

  /** Adds the groups of the messages, if they have any. */
  #ofGroups(settlements: readonly Settlement[], call: SettleCall): SettleCall {
    if (!this.#lanes) return call;
    const { args, rest } = call;
    return { args: { ...args, messages: settlements.length }, rest: [...groupArguments(settlements), ...rest] };
  }

  async abort(id: string): Promise<boolean> {
    const args = { id, partitioning: this.#partitioning.text, ...this.#announcing };
    const reply = await this.#write(this.#scripts.abort, { args });
    return reply.ifCopied(reply.flag());
  }

  accepts(body: MessageBody): Promise<boolean> | undefined {
    const bytes = LONGEST_DETAIL + Buffer.byteLength(body);
    return acceptsArgument(this.#connections.commands, this.#keys.paused, bytes);
  }

  async repair(lease: number, cursor = ''): Promise<RepairReport> {
    const args = { cursor, lease, size: REPAIR_PART, longestDelay: LONGEST_DELAY, ...this.#announcing };
    return readRepairReport(await this.#run(this.#scripts.repair, { args }));
  }

  async status(): Promise<QueueStatus> {
    return readQueueStatus(await this.#run(this.#scripts.status));
  }

  async countTypes(cursor = ''): Promise<TypeCountPage> {
    return readTypeCounts(await this.#run(this.#scripts.countTypes, { args: { cursor } }));
  }

  async pause(): Promise<void> {
    await this.#run(this.#scripts.pause);
  }

  async resume(): Promise<void> {
    await this.#run(this.#scripts.resume);
  }

  async clear(): Promise<number> {
    return (await this.#run(this.#scripts.clear)).number();
  }

  async list(request: PageRequest): Promise<StoredPage> {
    const { state } = request;
    return readStoredPage(state, await this.#run(this.#scripts.list, { args: { state, ...pageArguments(request) } }));
  }

  async redrive(selection: DeadSelection, { unwrap = false }: RedriveOptions = {}): Promise<number> {
    const args = {
      ...selectionArguments(selection),
      partitioning: this.#partitioning.text,
      ...this.#announcing,
      unwrap: unwrap ? '1' : '',
    };
    return (await this.#runByPartitioning(this.#scripts.redrive, { args })).number();
  }

  async discard(selection: DeadSelection): Promise<number> {
    const args = { ...selectionArguments(selection), partitioning: this.#partitioning.text };
    return (await this.#runByPartitioning(this.#scripts.discard, { args })).number();
  }

  watchDue(listener: DueListener): () => void {
    const { announcements } = this.#connections;
    return announcements.listen(this.#keys.due, {
      onListening: () => listener.onListening(),
      onMessage: (text) => readAnnouncement(text, announcements.database, listener),
    });
  }

  catchUp(): Promise<void> {
    return this.#connections.announcements.catchUp(this.#keys.due);
  }

  openWakeSignal(): WakeSignal {
    return this.#connections.openWakeSignal(this.#keys.wake, () => this.wake());
  }

  /** Where every message passes, it is not spread into the arguments: that is measurably slower than naming them. */
  get #announcing(): Announcing {
    return { channel: this.#keys.due, database: this.#connections.announcements.databaseArgument };
  }

  /**
   * For the calls of a producer.
   *
   * @throws Repartitioned
   */
  #write(
    script: RedisScript<keyof NativeKeys>,
    call: Omit<ScriptCall, 'keys'>,
    notAfter?: number,
  ): Promise<ScriptReply> {
    const { writes } = this.#connections;
    return this.#runByPartitioning(script, call, notAfter === undefined ? writes : writes.before(notAfter));
  }

  /** @throws Repartitioned */
  async #runByPartitioning(
    script: RedisScript<keyof NativeKeys>,
    call: Omit<ScriptCall, 'keys'>,
    commands = this.#connections.commands,
  ): Promise<ScriptReply> {
    try {
      return await commands.run(script, this.#callOf(script, call));
    } catch (error) {
      throw repartitioned(error) ?? error;
    }
  }

  #run(script: RedisScript<keyof NativeKeys>, call?: Omit<ScriptCall, 'keys'>): Promise<ScriptReply> {
    return this.#connections.commands.run(script, this.#callOf(script, call));
  }

  #callOf(script: RedisScript<keyof NativeKeys>, call?: Omit<ScriptCall, 'keys'>): ScriptCall<keyof NativeKeys> {
    if (!this.#lanes || !script.args.some(({ name }) => name === 'lanes')) return { ...call, keys: this.#keys };
    return { ...call, args: { ...call?.args, lanes: this.#lanes.argument }, keys: this.#keys };
  }
}
