import { formatCursor, parseCursor } from '../dead-letter.cursor.js';
import {
  type Claim,
  type ClaimReport,
  type ClaimRequest,
  type DeadPage,
  type DeadSelection,
  type Doorbell,
  type DueListener,
  type DueTime,
  LEASE_EXPIRED,
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
} from '../message-store.js';
import type { MessageState } from '../../message/message.js';
import type { ScriptArgument } from '../redis/redis-commands.js';
import type { RedisConnections } from '../redis/redis-connections.js';
import type { RedisScript } from '../redis/redis-script.js';
import type { ScriptReply } from '../redis/script-reply.js';
import type { NativeKeys } from './native.keys.js';
import { readRecord } from './native.record.js';
import { nativeScripts as scripts } from './native.scripts.js';
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
  settlementArguments,
} from './script-values.js';

export interface NativeStoreOptions {
  readonly keys: NativeKeys;
  readonly limits: StoreLimits;
}

/** The messages of one queue in Redis, in this package's own layout. The scripts hold the logic; this speaks to them. */
export class NativeMessageStore implements MessageStore {
  readonly #connections: RedisConnections;
  readonly #keys: NativeKeys;
  readonly #limits: StoreLimits;

  constructor(connections: RedisConnections, { keys, limits }: NativeStoreOptions) {
    this.#connections = connections;
    this.#keys = keys;
    this.#limits = limits;
  }

  async offer(offers: readonly Offer[]): Promise<OfferReceipt[]> {
    if (offers.length === 0) return [];
    const { delayed, messages, ready, claims, leases, attempts, dead, errors, due } = this.#keys;
    const args: ScriptArgument[] = [due, this.#limits.maxMessages ?? 0];
    for (const offer of offers) args.push(offer.id, dueArgument(offer.due), offer.onDuplicate, offer.body);
    const keys = [delayed, messages, ready, claims, leases, attempts, dead, errors];
    return readReceipts(await this.#run(scripts.offer, keys, args), offers.length);
  }

  async cancel(id: string): Promise<boolean> {
    const { delayed, messages, attempts } = this.#keys;
    return (await this.#run(scripts.cancel, [delayed, messages, attempts], [id])).flag();
  }

  async reschedule(id: string, when: DueTime): Promise<boolean> {
    const { delayed, messages, due } = this.#keys;
    return (await this.#run(scripts.reschedule, [delayed, messages], [id, dueArgument(when), due])).flag();
  }

  async find(id: string): Promise<StoredMessage | null> {
    const { delayed, messages, claims, leases, attempts, dead } = this.#keys;
    const reply = await this.#run(scripts.find, [delayed, messages, claims, leases, attempts, dead], [id]);
    if (reply.done) return null;
    const state = reply.text() as MessageState;
    const record = readRecord(reply.bytes());
    const failedAttempts = reply.number();
    const leasedUntil = reply.number();
    return { id, state, ...record, failedAttempts, leasedUntil: state === 'active' ? leasedUntil : null };
  }

  async transfer({ scheduler, limit }: TransferRequest): Promise<TransferReport> {
    const { delayed, ready, claims, leases, attempts, messages, dead, errors, wake, mover, paused } = this.#keys;
    const reply = await this.#run(
      scripts.transfer,
      [delayed, ready, claims, leases, attempts, messages, dead, errors, wake, mover, paused],
      [scheduler, limit, this.#limits.attempts, this.#limits.maxDeadLetters, JSON.stringify(LEASE_EXPIRED)],
    );
    return readTransferReport(reply).report;
  }

  async claim(request: ClaimRequest): Promise<ClaimReport> {
    const { ready, claims, leases, messages, attempts, wake, paused } = this.#keys;
    const keys = [ready, claims, leases, messages, attempts, wake, paused, ...endedKeys(this.#keys, request)];
    return readClaimReport(await this.#run(scripts.claim, keys, claimArguments(request)));
  }

  async extend(held: readonly Claim[], lease: number): Promise<string[]> {
    if (held.length === 0) return [];
    const { claims, leases, ready, wake, paused } = this.#keys;
    const args = [lease, ...held.flatMap(({ id, token }) => [id, token])];
    return (await this.#run(scripts.extend, [claims, leases, ready, wake, paused], args)).rest((reply) => reply.text());
  }

  async settle(settlements: readonly Settlement[]): Promise<SettleReport> {
    if (settlements.length === 0) return { accepted: [], dropped: 0 };
    const { delayed, messages, claims, leases, attempts, dead, errors, ready, wake, paused, due } = this.#keys;
    const keys = [delayed, messages, claims, leases, attempts, dead, errors, ready, wake, paused];
    const args = [due, this.#limits.maxDeadLetters, ...settlementArguments(settlements)];
    const reply = await this.#run(scripts.settle, keys, args);
    const dropped = reply.number();
    const accepted = settlements.map(() => true);
    while (!reply.done) accepted[reply.number() - 1] = false;
    return { dropped, accepted };
  }

  async repair(cursor = ''): Promise<RepairReport> {
    const { messages, delayed, ready, claims, dead, wake, paused } = this.#keys;
    const keys = [messages, delayed, ready, claims, dead, wake, paused];
    return readRepairReport(await this.#run(scripts.repair, keys, [cursor, REPAIR_PART]));
  }

  async status(): Promise<QueueStatus> {
    const { delayed, ready, claims, dead, paused } = this.#keys;
    return readQueueStatus(await this.#run(scripts.status, [delayed, ready, claims, dead, paused]));
  }

  async pause(): Promise<void> {
    await this.#run(scripts.pause, [this.#keys.paused]);
  }

  async resume(): Promise<void> {
    const { paused, ready, wake } = this.#keys;
    await this.#run(scripts.resume, [paused, ready, wake]);
  }

  async clear(): Promise<number> {
    const { messages, claims, attempts, errors, delayed, leases, dead, ready, wake, mover } = this.#keys;
    const keys = [messages, claims, attempts, errors, delayed, leases, dead, ready, wake, mover];
    return (await this.#run(scripts.clear, keys)).number();
  }

  async listDead({ cursor, limit }: { cursor: string | undefined; limit: number }): Promise<DeadPage> {
    const { dead, messages, attempts, errors } = this.#keys;
    const after = cursor === undefined ? { diedAt: '', id: '' } : parseCursor(cursor);
    const reply = await this.#run(
      scripts.listDead,
      [dead, messages, attempts, errors],
      [after.diedAt, after.id, limit],
    );
    const more = reply.flag();
    const letters = reply.rest(() => ({
      id: reply.text(),
      diedAt: reply.number(),
      failedAttempts: reply.number(),
      ...readRecord(reply.bytesOrNull() ?? NO_BYTES),
      error: reply.bytesOrNull()?.toString() ?? UNKNOWN_ERROR,
    }));
    const last = letters.at(-1);
    return { letters, cursor: more && last ? formatCursor(last) : null };
  }

  async redrive(selection: DeadSelection): Promise<number> {
    const { dead, errors, messages, attempts, delayed, due } = this.#keys;
    const keys = [dead, errors, messages, attempts, delayed];
    return (await this.#run(scripts.redrive, keys, [...selectionArguments(selection), due])).number();
  }

  async discard(selection: DeadSelection): Promise<number> {
    const { dead, errors, messages, attempts } = this.#keys;
    const keys = [dead, errors, messages, attempts];
    return (await this.#run(scripts.discard, keys, selectionArguments(selection))).number();
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
    return this.#connections.openDoorbell(this.#keys.wake);
  }

  #run(script: RedisScript, keys: readonly string[], args?: readonly ScriptArgument[]): Promise<ScriptReply> {
    return this.#connections.commands.run(script, keys, args);
  }
}

/** Stand for what is missing of a letter, so that it hides no other. */
const NO_BYTES = Buffer.alloc(0);
const UNKNOWN_ERROR = JSON.stringify({ name: 'Unknown', message: 'What ended it is not known.' });

function selectionArguments(selection: DeadSelection): ScriptArgument[] {
  return 'id' in selection ? ['id', selection.id] : ['oldest', selection.oldest];
}
