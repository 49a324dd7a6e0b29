import type {
  CheckedDue,
  CheckedDuration,
  CheckedRequests,
  DefinedBy,
  Duration,
  MessageChange,
  MessageHeaders,
  OfferDue,
  PayloadInput,
  PayloadSpec,
  RetryOptions,
  SpecOf,
  TypedOfferRequest,
  TypesOf,
} from 'nestjs-delay-queue';
import type { OutboxDatabase, SqlRow } from './database/outbox-database.js';
import { type Due, invalid, readDate, readDelay, readDue, readId } from './offering/arguments.js';
import { knownQueue, type KnownQueue } from './offering/known-queue.js';
import { changeBody } from './offering/read-change.js';
import { type GivenOffer, offerRow, readOptions, readRequest } from './offering/read-offer.js';
import { shown } from './offering/shown.js';
import type { OutboxRelay, RelayStatus } from './relay/outbox-relay.js';
import type { TargetCheck } from './relay/target-check.js';
import type { OutboxTable, TableStatus } from './table/outbox-table.js';
import { encryptedRow, payloadOf } from './table/encrypted-row.js';
import type { NewRow, RowBody } from './table/row.js';
import { inTransaction, run, type Steps } from './table/steps.js';

/** The options of an offer of a typed queue, which names the type elsewhere. */
export interface TypedOutboxOfferOptions extends RetryOptions {
  /** Text of 1–256 bytes without control characters. Default: the id of the row, which is generated. */
  readonly id?: string | undefined;
  /** Headers, with text values. Default: none. */
  readonly headers?: MessageHeaders | undefined;
  /**
   * Decides about an existing message with this id when the row is relayed: `'keep'` keeps it, `'replace'` replaces it. Default: `'keep'`.
   */
  readonly onDuplicate?: 'keep' | 'replace' | undefined;
  /**
   * The group of the message, such as `customer-7`: text of 1–256 bytes without control characters. Its queue needs the option `groups` in
   * every process. Default: none.
   */
  readonly group?: string | undefined;
  /**
   * How late the message may be: if its handler cannot start within this time after it first fell due, it has expired and is not handled. 0
   * ms – 100 years, or `'never'`. Default: `expiresAfter` of the queue.
   */
  readonly expiresAfter?: Duration | 'never' | undefined;
  /** Decides about a message that has expired. Only with `expiresAfter`. Default: `onExpired` of the queue. */
  readonly onExpired?: 'drop' | 'dead' | undefined;
  /**
   * Debounces with an end: the message falls due at most this long after the first of the offers that have replaced each other. 1 ms – 100
   * years, with `id` and `onDuplicate: 'replace'`. Default: none.
   */
  readonly maxWait?: Duration | undefined;
}

/** The options of an offer. */
export interface OutboxOfferOptions extends TypedOutboxOfferOptions {
  /** The type of the message. 1–64 of the characters `A–Z a–z 0–9 _ . : -`. Default: none. */
  readonly type?: string | undefined;
}

/** One message of `offerMany`: its payload, its options, and either a `delay` or `at`. */
export type OutboxOfferRequest<T = unknown> = OutboxOfferOptions & OfferDue & { readonly payload: T };

/** One message of `offerMany`, of a typed queue. */
export type TypedOutboxOfferRequest<Payloads> = TypedOfferRequest<Payloads> & TypedOutboxOfferOptions;

/** The result of an offer. The message does not exist yet. */
export interface OutboxReceipt {
  /** The id that the message will have. */
  readonly id: string;
}

/** The state of an outbox. */
export interface OutboxStatus extends TableStatus {
  /** The relay of this process. */
  readonly relay: RelayStatus;
}

/** A row that has failed for good, because it can never be relayed as it is. */
export interface FailedOutboxRow {
  /** The number of the row, for `retryFailed` and `discardFailed`. */
  readonly row: number;
  /** `'offer'`, `'cancel'` or `'reschedule'`. */
  readonly operation: string;
  readonly queue: string;
  readonly id: string;
  /**
   * The payload of an offer, a `Buffer` if one was offered, an `EncryptedPayload` if the queue's messages are encrypted. Undefined for another
   * operation, or if it cannot be read.
   */
  readonly payload: unknown;
  /** When it was written, by the clock of the database. */
  readonly writtenAt: Date;
  /** Why it failed. */
  readonly error: string;
}

export interface FailedQuery {
  /** Only rows after this one. Default: from the oldest. */
  readonly after?: number | undefined;
  /** 1–1000. Default: 100. */
  readonly limit?: number | undefined;
}

interface OutboxParts {
  readonly database: OutboxDatabase;
  readonly table: OutboxTable;
  readonly relay: OutboxRelay;
  readonly targetCheck: TargetCheck;
}

/**
 * Offers, cancels and reschedules in a transaction of the application's database: calls take effect if, and only if, the transaction
 * commits. A relay then hands them to the delay queue, within milliseconds where the database can wake it.
 *
 * Arguments are checked before a row is written, with the errors of `DelayQueueProducer`. Errors of the database are passed on as they are.
 * @typeParam Transaction - the first argument of calls, for a check by the compiler: `DelayQueueOutbox<EntityManager>`
 * @example
 * ```ts
 * await dataSource.transaction(async (manager) => {
 *   await manager.save(order);
 *   await outbox.offer(manager, 'orders', { orderId: order.id }, '30m', { id: `unpaid:${order.id}` });
 * });
 * ```
 */
export class DelayQueueOutbox<Transaction extends object = object> {
  readonly #parts: OutboxParts;

  /** @internal */
  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  /**
   * Offers a message that falls due after a delay, counted from now by the clock of the database.
   * @param transaction - of the library that the module was given; refused if it is not in a transaction
   * @param queue - a name, or the class of a typed queue
   * @param payload - JSON values, or a `Buffer`
   * @param delay - 0 ms – 100 years
   * @returns the id of the message, which is in the queue soon after the commit
   * @throws DelayQueueError `INVALID_ARGUMENT`, `INVALID_PAYLOAD`, and errors of the database
   */
  offer<const Delay extends Duration = Duration>(
    transaction: Transaction,
    queue: string,
    payload: unknown,
    delay: CheckedDuration<Delay>,
    options?: OutboxOfferOptions,
  ): Promise<OutboxReceipt>;
  /** Offers a message of a typed queue with messages of one kind. */
  offer<const Payload extends PayloadSpec, const Delay extends Duration = Duration>(
    transaction: Transaction,
    queue: DefinedBy<Payload>,
    payload: PayloadInput<Payload>,
    delay: CheckedDuration<Delay>,
    options?: TypedOutboxOfferOptions,
  ): Promise<OutboxReceipt>;
  /** Offers a message of a typed queue with several types. */
  offer<Payloads, Type extends TypesOf<Payloads>, const Delay extends Duration = Duration>(
    transaction: Transaction,
    queue: DefinedBy<Payloads>,
    type: Type,
    payload: PayloadInput<SpecOf<Payloads, Type>>,
    delay: CheckedDuration<Delay>,
    options?: TypedOutboxOfferOptions,
  ): Promise<OutboxReceipt>;
  async offer(transaction: Transaction, queue: QueueArgument, ...given: readonly unknown[]): Promise<OutboxReceipt> {
    return this.#offer(transaction, this.#known(queue), given, readDelay);
  }

  /**
   * Offers a message that falls due at an instant by Redis' clock, at once if it has passed. Otherwise like {@link offer}.
   * @param date - between 1970 and 9999
   */
  offerAt(
    transaction: Transaction,
    queue: string,
    payload: unknown,
    date: Date,
    options?: OutboxOfferOptions,
  ): Promise<OutboxReceipt>;
  /** Offers a message of a typed queue with messages of one kind. */
  offerAt<const Payload extends PayloadSpec>(
    transaction: Transaction,
    queue: DefinedBy<Payload>,
    payload: PayloadInput<Payload>,
    date: Date,
    options?: TypedOutboxOfferOptions,
  ): Promise<OutboxReceipt>;
  /** Offers a message of a typed queue with several types. */
  offerAt<Payloads, Type extends TypesOf<Payloads>>(
    transaction: Transaction,
    queue: DefinedBy<Payloads>,
    type: Type,
    payload: PayloadInput<SpecOf<Payloads, Type>>,
    date: Date,
    options?: TypedOutboxOfferOptions,
  ): Promise<OutboxReceipt>;
  async offerAt(transaction: Transaction, queue: QueueArgument, ...given: readonly unknown[]): Promise<OutboxReceipt> {
    return this.#offer(transaction, this.#known(queue), given, readDate);
  }

  /**
   * Offers many messages with few statements. All are checked before the first is written.
   * @param messages - each with a `payload`, either a `delay` or `at` (a `Date`), and the options of {@link offer}
   * @returns the ids, in the order of the messages
   * @throws DelayQueueError as {@link offer}, naming the message
   */
  offerMany<const Delays extends readonly Duration[] = readonly Duration[]>(
    transaction: Transaction,
    queue: string,
    messages: CheckedRequests<OutboxOfferRequest, Delays>,
  ): Promise<OutboxReceipt[]>;
  /** Offers messages of a typed queue. */
  offerMany<Payloads, const Delays extends readonly Duration[] = readonly Duration[]>(
    transaction: Transaction,
    queue: DefinedBy<Payloads>,
    messages: CheckedRequests<TypedOutboxOfferRequest<Payloads>, Delays>,
  ): Promise<OutboxReceipt[]>;
  async offerMany(
    transaction: Transaction,
    queue: QueueArgument,
    messages: readonly unknown[],
  ): Promise<OutboxReceipt[]> {
    const known = this.#known(queue);
    if (!Array.isArray(messages))
      throw invalid('messages: must be an array; for another iterable, offer [...messages]');
    const rows: NewRow[] = [];
    for (const [i, message] of [...(messages as readonly unknown[])].entries()) {
      rows.push(await inMessage(i, async () => offerRow(known, readRequest(message))));
    }
    return this.#write(transaction, rows);
  }

  /**
   * Cancels a message that is not due yet, once the transaction is committed. The caller does not learn if there was one, so the handler
   * should check before it acts.
   * @param queue - a name, or the class of a typed queue
   * @param id - of a message that was offered here, or by the producer
   */
  async cancel(transaction: Transaction, queue: QueueArgument, id: string): Promise<void> {
    const { name } = this.#known(queue);
    await this.#write(transaction, [
      { operation: 'cancel', queue: name, messageId: readId(id), body: '{}', due: undefined },
    ]);
  }

  /**
   * Changes the due time of a message that is not due yet, and what else is given, once the transaction is committed.
   * @param due - a delay, counted from now by the clock of the database, or a `Date`
   * @param change - a new `payload`, `headers`, `type`, `attempts` or `backoff`; anything else stays. For a queue with types, a payload includes its type.
   * @throws DelayQueueError `INVALID_ARGUMENT`, `INVALID_PAYLOAD`, and errors of the database
   */
  async reschedule<const Due extends Duration | Date = Duration | Date>(
    transaction: Transaction,
    queue: QueueArgument,
    id: string,
    due: CheckedDue<Due>,
    change?: MessageChange,
  ): Promise<void> {
    const known = this.#known(queue);
    const row = { operation: 'reschedule', queue: known.name, messageId: readId(id), due: readDue(due) } as const;
    await this.#write(transaction, [{ ...row, body: await changeBody(known, change) }]);
  }

  /** Returns the state of the table and of the relay of this process. */
  async status(): Promise<OutboxStatus> {
    const { database, table, relay } = this.#parts;
    return { ...(await inTransaction(database, () => table.status())), relay: relay.status };
  }

  /** Pauses the relays of all processes, until {@link resume}. Rows are written, and wait. */
  async pause(): Promise<void> {
    await this.#change((table) => table.pause());
  }

  async resume(): Promise<void> {
    await this.#change((table) => table.resume());
  }

  /** Lists rows that have failed for good, oldest first. */
  async failed({ after = 0, limit = 100 }: FailedQuery = {}): Promise<FailedOutboxRow[]> {
    if (!Number.isInteger(limit) || limit < 1 || limit > 1000)
      throw invalid(`limit: must be 1–1000, not ${shown(limit)}`);
    if (!Number.isSafeInteger(after) || after < 0)
      throw invalid(`after: must be the row of a failed row, not ${shown(after)}`);
    const { database, table } = this.#parts;
    return (await inTransaction(database, () => table.failed({ after, limit }))).map(failedRow);
  }

  /** Returns rows that have failed for good to their old places, to be tried again. @param rows - as {@link failed} lists them */
  async retryFailed(rows: readonly FailedOutboxRow[]): Promise<void> {
    const seqs = seqsOf(rows);
    await this.#change((table) => table.retry(seqs));
  }

  /** Removes rows that have failed for good. @param rows - as {@link failed} lists them */
  async discardFailed(rows: readonly FailedOutboxRow[]): Promise<void> {
    const seqs = seqsOf(rows);
    await this.#change((table) => table.discard(seqs));
  }

  #known(queue: QueueArgument): KnownQueue {
    return knownQueue(queue, this.#parts.relay.instance);
  }

  async #offer(
    transaction: Transaction,
    queue: KnownQueue,
    given: readonly unknown[],
    readWhen: (when: unknown) => Due,
  ): Promise<OutboxReceipt> {
    const [type, payload, when, options] = queue.types ? given : [undefined, ...given];
    const offer: GivenOffer = { ...readOptions(options, queue), payload, due: readWhen(when) };
    const row = await offerRow(queue, queue.types ? { ...offer, type } : offer);
    const [receipt] = await this.#write(transaction, [row]);
    return receipt!;
  }

  async #write(transaction: Transaction, rows: readonly NewRow[]): Promise<OutboxReceipt[]> {
    const { database, table, relay, targetCheck } = this.#parts;
    if (typeof transaction !== 'object' && typeof transaction !== 'function') {
      throw invalid(`transaction: must be a transaction of the database, not ${shown(transaction)}`);
    }
    const sql = transaction === null ? 'null' : database.within(transaction);
    if (typeof sql === 'string') {
      throw invalid(
        `transaction: must be one that is under way, not ${sql}. Otherwise the row would not be part of it`,
      );
    }
    const stored = rows.map((row) => encryptedRow(row, relay.target));
    await targetCheck.beforeWrite();
    await run(table.write(stored), sql);
    relay.expect();
    return rows.map(({ messageId: id }) => ({ id }));
  }

  async #change(work: (table: OutboxTable) => Steps<void>): Promise<void> {
    const { database, table, relay } = this.#parts;
    await inTransaction(database, () => work(table));
    relay.expect();
  }
}

type QueueArgument = string | DefinedBy<unknown>;

async function inMessage<Result>(index: number, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    throw ofMessage(index, error);
  }
}

function ofMessage(index: number, error: unknown): unknown {
  if (error instanceof Error) error.message = `messages[${index}]: ${error.message}`;
  return error;
}

function seqsOf(rows: readonly FailedOutboxRow[]): number[] {
  if (!Array.isArray(rows)) throw invalid('rows: must be an array, as failed() returns it');
  return (rows as readonly Partial<FailedOutboxRow>[]).map(({ row }) => {
    if (Number.isSafeInteger(row) && row! > 0) return row!;
    throw invalid(`rows: must be as failed() returns them, with a row, not ${shown(row)}`);
  });
}

function failedRow(row: SqlRow): FailedOutboxRow {
  return {
    row: Number(row.seq),
    operation: operationOf(String(row.operation)),
    queue: String(row.queue),
    id: String(row.message_id),
    payload: row.operation === 'change-encrypted' ? undefined : payloadIn(String(row.body)),
    writtenAt: new Date(Number(row.written_at_ms)),
    error: String(row.error),
  };
}

/** Returns what the caller asked for: the table says also if the row is encrypted. */
function operationOf(operation: string): string {
  return operation.replace(/-encrypted$/, '').replace('change', 'reschedule');
}

function payloadIn(body: string): unknown {
  try {
    return payloadOf(JSON.parse(body) as RowBody);
  } catch {
    return undefined;
  }
}
