import type {
  Claim,
  ClaimReport,
  ClaimRequest,
  Doorbell,
  DueListener,
  Settlement,
  SettleReport,
  TransferReport,
  TransferRequest,
} from '../message-flow.js';
import type { DueTime, Offer, OfferReceipt } from '../message-intake.js';
import type { MessageStore, StoreLimits } from '../message-store.js';
import type {
  DeadSelection,
  StoredPage,
  PageRequest,
  QueueStatus,
  RepairReport,
  StoredMessage,
  TypeCountPage,
} from '../message-upkeep.js';
import type { MessageState } from '../../message/message.js';
import type { RedisConnections } from '../redis/redis-connections.js';
import type { RedisScript } from '../redis/redis-script.js';
import type { ScriptArguments, ScriptCall } from '../redis/script-call.js';
import type { ScriptReply } from '../redis/script-reply.js';
import type { NativeKeys } from './native.keys.js';
import { readRecord } from './native.record.js';
import { nativeScripts as scripts } from './native.scripts.js';
import { repartitioned } from './repartitioned-reply.js';
import {
  claimCall,
  dueArgument,
  offerArguments,
  pageArguments,
  readClaimReport,
  readDeath,
  readStoredPage,
  readQueueStatus,
  readReceipts,
  readRepairReport,
  readTransferReport,
  readTypeCounts,
  REPAIR_PART,
  settlementArguments,
  transferArguments,
} from './script-values.js';

export interface NativeStoreOptions {
  readonly keys: NativeKeys;
  readonly limits: StoreLimits;
  /**
   * The record of partitions that calls about single messages go by; a partition that has another one refuses them with
   * `Repartitioned`. Default: none, because there is only this partition.
   */
  readonly record?: () => string;
}

const NO_RECORD = () => '';

/** As a maximum number of messages: offers create none. */
const NONE_NEW = -1;

/** The messages of one partition of a queue in Redis, in this package's own layout. The logic is in the scripts; this class calls them. */
export class NativeMessageStore implements MessageStore {
  readonly #connections: RedisConnections;
  readonly #keys: NativeKeys;
  readonly #limits: StoreLimits;
  readonly #record: () => string;

  constructor(connections: RedisConnections, { keys, limits, record = NO_RECORD }: NativeStoreOptions) {
    this.#connections = connections;
    this.#keys = keys;
    this.#limits = limits;
    this.#record = record;
  }

  offer(offers: readonly Offer[]): Promise<OfferReceipt[]> {
    return this.#offer(offers, this.#limits.maxMessages ?? 0);
  }

  /** As {@link offer}, but creates nothing: undefined for ids that are not in use. */
  async offerIfPresent(offers: readonly Offer[]): Promise<(OfferReceipt | undefined)[]> {
    const receipts = await this.#offer(offers, NONE_NEW);
    return receipts.map((receipt) => (receipt.outcome === 'full' ? undefined : receipt));
  }

  async #offer(offers: readonly Offer[], maxMessages: number): Promise<OfferReceipt[]> {
    if (offers.length === 0) return [];
    const { channel, publish } = this.#announcing;
    const args = { channel, publish, maxMessages, record: this.#record() };
    const reply = await this.#runByRecord(scripts.offer, { args, rest: offerArguments(offers) });
    return readReceipts(reply, offers.length);
  }

  async cancel(id: string): Promise<boolean> {
    return (await this.#runByRecord(scripts.cancel, { args: { id, record: this.#record() } })).flag();
  }

  async reschedule(id: string, due: DueTime): Promise<boolean> {
    const args = { id, due: dueArgument(due), ...this.#announcing, record: this.#record() };
    return (await this.#runByRecord(scripts.reschedule, { args })).flag();
  }

  async find(id: string): Promise<StoredMessage | null> {
    const reply = await this.#runByRecord(scripts.find, { args: { id, record: this.#record() } });
    if (reply.done) return null;
    const state = reply.text() as MessageState;
    const record = readRecord(reply.bytes());
    const failedAttempts = reply.number();
    const leasedUntil = state === 'active' ? reply.number() : null;
    const death = state === 'dead' ? readDeath(reply) : null;
    return { id, state, ...record, failedAttempts, leasedUntil, death };
  }

  async transfer(request: TransferRequest): Promise<TransferReport> {
    const args = transferArguments(request, this.#limits);
    return readTransferReport(await this.#run(scripts.transfer, { args })).report;
  }

  async claim(request: ClaimRequest): Promise<ClaimReport> {
    return readClaimReport(await this.#run(scripts.claim, claimCall(request, this.#limits)));
  }

  async ring(): Promise<void> {
    await this.#run(scripts.ring);
  }

  async extend(held: readonly Claim[], lease: number): Promise<string[]> {
    if (held.length === 0) return [];
    const rest = held.flatMap(({ id, token }) => [id, token]);
    return (await this.#run(scripts.extend, { args: { lease }, rest })).rest((reply) => reply.text());
  }

  async settle(settlements: readonly Settlement[]): Promise<SettleReport> {
    if (settlements.length === 0) return { accepted: [], dropped: 0 };
    const { channel, publish } = this.#announcing;
    const args = { channel, publish, maxDead: this.#limits.maxDeadLetters };
    const reply = await this.#run(scripts.settle, { args, rest: settlementArguments(settlements) });
    const dropped = reply.number();
    const accepted = settlements.map(() => true);
    while (!reply.done) accepted[reply.number() - 1] = false;
    return { dropped, accepted };
  }

  async repair(cursor = ''): Promise<RepairReport> {
    return readRepairReport(await this.#run(scripts.repair, { args: { cursor, size: REPAIR_PART } }));
  }

  async status(): Promise<QueueStatus> {
    return readQueueStatus(await this.#run(scripts.status));
  }

  async countTypes(cursor = ''): Promise<TypeCountPage> {
    return readTypeCounts(await this.#run(scripts.countTypes, { args: { cursor } }));
  }

  async pause(): Promise<void> {
    await this.#run(scripts.pause);
  }

  async resume(): Promise<void> {
    await this.#run(scripts.resume);
  }

  async clear(): Promise<number> {
    return (await this.#run(scripts.clear)).number();
  }

  async list(request: PageRequest): Promise<StoredPage> {
    return readStoredPage(
      request.state,
      await this.#run(scripts.list, { args: { state: request.state, ...pageArguments(request) } }),
    );
  }

  async redrive(selection: DeadSelection): Promise<number> {
    const args = { ...selectionArguments(selection), record: this.#record(), ...this.#announcing };
    return (await this.#runByRecord(scripts.redrive, { args })).number();
  }

  async discard(selection: DeadSelection): Promise<number> {
    const args = { ...selectionArguments(selection), record: this.#record() };
    return (await this.#runByRecord(scripts.discard, { args })).number();
  }

  watchDue(listener: DueListener): () => void {
    return this.#connections.announcements.listen(this.#keys.due, {
      onListening: () => listener.onListening(),
      onMessage: (text) => {
        const [dueAt, dueIn] = text.split(' ').map(Number);
        if (Number.isFinite(dueAt) && Number.isFinite(dueIn)) {
          listener.onEarlierDue({ dueAt: dueAt!, dueIn: dueIn! });
        }
      },
    });
  }

  openDoorbell(): Doorbell {
    return this.#connections.openDoorbell(this.#keys.wake, () => this.ring());
  }

  /** Where every message passes, it is not spread into the arguments: that is measurably slower than naming them. */
  get #announcing() {
    return { channel: this.#keys.due, publish: this.#connections.announcements.command };
  }

  /** @throws Repartitioned */
  async #runByRecord(script: RedisScript<keyof NativeKeys>, call: Omit<ScriptCall, 'keys'>): Promise<ScriptReply> {
    try {
      return await this.#run(script, call);
    } catch (error) {
      throw repartitioned(error) ?? error;
    }
  }

  #run(script: RedisScript<keyof NativeKeys>, call?: Omit<ScriptCall, 'keys'>): Promise<ScriptReply> {
    return this.#connections.commands.run(script, { ...call, keys: this.#keys });
  }
}

function selectionArguments(selection: DeadSelection): ScriptArguments {
  return 'id' in selection ? { by: 'id', value: selection.id } : { by: 'oldest', value: selection.oldest };
}
