import type { Dialect, SqlRow, SqlValue } from '../database/outbox-database.js';
import { DIALECTS, type DialectRules, quoted } from './dialects.js';
import type { FailedRow, NewRow, Operation, TakenRow } from './row.js';
import type { Statement, Steps } from './steps.js';

/** The number of the row that exists while the outbox is paused. Rows count from 1. */
const PAUSED = -1;
/** The number of the row that says where the rows are relayed to. */
const TARGET = -2;
/**
 * A row that has failed for good gets the number -1000 minus its own, so queries for rows above 0 never meet it, however many there are.
 * The same calculation leads back.
 */
const PARKED = -1000;
/** Maximum number of rows that one statement writes. */
const MAX_WRITTEN = 500;
/** Maximum bytes of bodies that one statement writes, unless a single row has more. */
const MAX_BYTES = 1024 * 1024;
const MAX_ERROR = 2000;
/** The operations of this version. Rows with others are for relays that know more. */
const OPERATIONS: readonly Operation[] = ['offer', 'cancel', 'reschedule', 'offer-encrypted', 'change-encrypted'];

const COLUMNS =
  'seq, operation, queue, message_id, body, delay_ms, due_at_ms, written_at_ms, not_before_ms, attempts, error';

/** The state of the outbox as a whole. */
export interface TableStatus {
  readonly waiting: number;
  readonly failed: number;
  /** How long the oldest row has waited, ms by the clock of the database; 0 if none waits. */
  readonly oldest: number;
  readonly paused: boolean;
}

/** Where the rows of a table are relayed to. */
export interface StoredTarget {
  /** The id that Redis has. */
  readonly id: string;
  /** The addresses of its servers, each with database and prefix, as any process knows them. */
  readonly addresses: readonly string[];
}

/** The rows that a relay looks for. */
export interface TakeRequest {
  readonly limit: number;
  /** Only rows behind this one. */
  readonly behind: number;
  /** Queues whose offers are left alone. */
  readonly withoutOffersTo: readonly string[];
  /** How long nobody else gets the rows, ms. */
  readonly lease: number;
}

export interface TakenRows {
  /** One for each message. */
  readonly rows: readonly TakenRow[];
  /** Rows that wait for others, which another relay has. */
  readonly behindOthers: readonly TakenRow[];
  /** True if there are rows that can be taken once these are relayed. */
  readonly more: boolean;
  /** The number of the first row found; undefined if none. */
  readonly first: number | undefined;
  /** When the lease of the rows ends, ms by the clock of the database. Only its holder may change them. */
  readonly until: number;
}

/** How long a row waits while another relay has its predecessor, ms. */
const HOLD = 100;

/** The statements on the outbox's table. A row whose `not_before_ms` is NULL has failed for good, and no relay takes it. */
export class OutboxTable {
  readonly #rules: DialectRules;
  readonly #name: string;
  #hasMessageIndex: boolean | undefined;

  constructor(
    private readonly dialect: Dialect,
    /** Also the channel on which PostgreSQL announces new rows. */
    readonly name: string,
  ) {
    this.#rules = DIALECTS[dialect];
    this.#name = quoted(dialect, name);
  }

  /** True if the table has the index that finds the rows of a message; undefined until it has been checked. */
  get hasMessageIndex(): boolean | undefined {
    return this.#hasMessageIndex;
  }

  /** Writes rows, in this order. On PostgreSQL, relays are notified once they are committed. */
  *write(rows: readonly NewRow[]): Steps<void> {
    for (const part of partsOf(rows)) {
      const places = part.map(() => `(?, ?, ?, ?, ?, ?, ${this.#rules.now})`).join(', ');
      const columns = 'operation, queue, message_id, body, delay_ms, due_at_ms, written_at_ms';
      const insert = `INSERT INTO ${this.#name} (${columns}) VALUES ${places}`;
      yield* this.#announced(insert, part.flatMap(valuesOf));
    }
  }

  /**
   * Takes the oldest rows that nobody else has, only the first of each message. So the order is kept, and what a relay repeats after a
   * crash is one operation, which has the same effect again. Two in a row would not: a reschedule before an offer changes nothing, but
   * repeated after it, it does.
   *
   * With the index, the rows behind the first of a message are not even found, so a message with many of them delays nobody. A row is
   * checked again to be the first once it is locked, in a statement of its own: a predecessor that is not visible then was deleted, that
   * is, relayed. One statement for both would compare rows of two instants, at least on MySQL.
   */
  *take({ limit, behind, withoutOffersTo, lease }: TakeRequest): Steps<TakenRows> {
    const { now, lock, walkInOrder } = this.#rules;
    if (walkInOrder !== undefined) yield [walkInOrder];
    const isFirst = this.#hasMessageIndex ? `AND seq = (${this.#firstBehind('0')}) ` : '';
    const stays =
      withoutOffersTo.length === 0
        ? ''
        : ` AND NOT (operation IN ('offer', 'offer-encrypted') AND queue IN (${placesFor(withoutOffersTo)}))`;
    const found = yield [
      `SELECT seq, operation, queue, message_id, body, delay_ms, due_at_ms, attempts, ${now} AS found_at, ` +
        `${now} - written_at_ms AS waited FROM ${this.#name} AS own WHERE seq > ? AND not_before_ms <= ${now} ` +
        `AND operation IN (${OPERATIONS.map((operation) => `'${operation}'`).join(', ')})${stays} ` +
        `AND NOT EXISTS (SELECT 1 FROM ${this.#name} AS pause WHERE pause.seq = ${PAUSED}) ` +
        `${isFirst}ORDER BY seq LIMIT ${limit}${lock}`,
      [behind, ...padded(withoutOffersTo)],
    ];
    const candidates = found.map(takenRow);
    const until = Number(found[0]?.found_at ?? 0) + lease;
    if (candidates.length === 0) return { rows: [], behindOthers: [], more: false, first: undefined, until };
    const isFull = candidates.length === limit;
    const { rows, behindOthers, haveNext } = this.#hasMessageIndex
      ? yield* this.#checkedByIndex(candidates, isFull)
      : yield* this.#checkedByScan(candidates);
    if (rows.length > 0) yield this.#setNotBefore(rows, '?', [until]);
    if (behindOthers.length > 0) yield this.#setNotBefore(behindOthers, `${now} + ${HOLD}`);
    return { rows, behindOthers, more: isFull || haveNext, first: candidates[0]!.seq, until };
  }

  /** Releases rows that were taken. */
  *release(rows: readonly TakenRow[], until: number): Steps<void> {
    if (rows.length === 0) return;
    const [update, values = []] = this.#setNotBefore(rows, '0');
    yield [`${update} AND not_before_ms = ?`, [...values, until]];
  }

  /** Removes rows that have been relayed. If the lease has ended and another relay has taken them since, that one does it instead. */
  *remove(rows: readonly TakenRow[], until: number): Steps<void> {
    if (rows.length === 0) return;
    const which = `seq IN (${placesFor(rows)}) AND not_before_ms = ?`;
    yield [`DELETE FROM ${this.#name} WHERE ${which}`, [...seqsOf(rows), until]];
  }

  /** Notes why a row could not be relayed, and when to try again; or that it has failed for good. */
  *fail({ row, error, retryAfter }: FailedRow, until: number): Steps<void> {
    const then =
      retryAfter === undefined
        ? `not_before_ms = NULL, seq = ${PARKED} - seq`
        : `not_before_ms = ${this.#rules.now} + ${retryAfter}`;
    const update = `UPDATE ${this.#name} SET attempts = attempts + 1, error = ?, ${then}`;
    yield [`${update} WHERE seq = ? AND not_before_ms = ?`, [storable(error), row.seq, until]];
  }

  *status(): Steps<TableStatus> {
    const isWaiting = 'seq > 0 AND not_before_ms IS NOT NULL';
    const [row = {}] = yield [
      `SELECT SUM(CASE WHEN ${isWaiting} THEN 1 ELSE 0 END) AS waiting, ` +
        `SUM(CASE WHEN not_before_ms IS NULL AND (seq > 0 OR seq < ${PARKED}) THEN 1 ELSE 0 END) AS failed, ` +
        `MAX(CASE WHEN ${isWaiting} THEN ${this.#rules.now} - written_at_ms ELSE 0 END) AS oldest, ` +
        `SUM(CASE WHEN seq = ${PAUSED} THEN 1 ELSE 0 END) AS paused FROM ${this.#name}`,
    ];
    const [waiting, failed, oldest, paused] = ['waiting', 'failed', 'oldest', 'paused'].map((of) =>
      Number(row[of] ?? 0),
    );
    return { waiting: waiting!, failed: failed!, oldest: Math.max(0, oldest!), paused: paused! > 0 };
  }

  /** Counts the rows with operations that this version does not know, by operation. */
  *unknown(): Steps<ReadonlyMap<string, number>> {
    const known = OPERATIONS.map((operation) => `'${operation}'`).join(', ');
    const rows = yield [
      `SELECT operation, COUNT(*) AS many FROM ${this.#name} ` +
        `WHERE seq > 0 AND not_before_ms IS NOT NULL AND operation NOT IN (${known}) GROUP BY operation`,
    ];
    return new Map(rows.map(({ operation, many }) => [String(operation), Number(many)]));
  }

  /** Lists rows that have failed for good, oldest first. */
  *failed({ after, limit }: { readonly after: number; readonly limit: number }): Steps<readonly SqlRow[]> {
    yield* this.#parkFailed();
    return yield [
      `SELECT ${PARKED} - seq AS seq, operation, queue, message_id, body, written_at_ms, error FROM ${this.#name} AS own ` +
        `WHERE own.seq < ? ORDER BY own.seq DESC LIMIT ${limit}`,
      [PARKED - after],
    ];
  }

  /** Returns rows that have failed for good to their old places, to be tried again. */
  *retry(seqs: readonly number[]): Steps<void> {
    if (seqs.length === 0) return;
    yield* this.#parkFailed();
    const change = `seq = ${PARKED} - seq, not_before_ms = 0, attempts = 0`;
    yield* this.#announced(
      `UPDATE ${this.#name} SET ${change} WHERE seq IN (${placesFor(seqs)})`,
      padded(seqs.map(parkedSeq)),
    );
  }

  /** Removes rows that have failed for good. */
  *discard(seqs: readonly number[]): Steps<void> {
    if (seqs.length === 0) return;
    yield* this.#parkFailed();
    yield [`DELETE FROM ${this.#name} WHERE seq IN (${placesFor(seqs)})`, padded(seqs.map(parkedSeq))];
  }

  *pause(): Steps<void> {
    yield* this.#insertOnce(PAUSED, 'pause', '');
  }

  /** Returns where the rows are relayed to; undefined until it has been noted. */
  *target(): Steps<StoredTarget | undefined> {
    const [row] = yield [`SELECT body FROM ${this.#name} WHERE seq = ${TARGET}`];
    return row && (JSON.parse(String(row.body)) as StoredTarget);
  }

  /** Notes where the rows are relayed to, unless that is noted already. */
  *noteTarget(target: StoredTarget): Steps<void> {
    yield* this.#insertOnce(TARGET, 'target', JSON.stringify(target));
  }

  *changeTarget(target: StoredTarget): Steps<void> {
    yield [`UPDATE ${this.#name} SET body = ? WHERE seq = ${TARGET}`, [JSON.stringify(target)]];
  }

  *resume(): Steps<void> {
    yield* this.#announced(`DELETE FROM ${this.#name} WHERE seq = ?`, [PAUSED]);
  }

  /** Notifies the channel. */
  *notify(): Steps<void> {
    yield [`SELECT pg_notify(?, '')::text AS told`, [this.name]];
  }

  /** Fails if the table or a column is missing. Looks for the index. */
  *check(): Steps<void> {
    yield [`SELECT ${COLUMNS} FROM ${this.#name} WHERE 1 = 0`];
    this.#hasMessageIndex = (yield [this.#rules.findMessageIndex(this.name)]).length > 0;
  }

  /** The first row of the message of the row `own`, behind a number. */
  #firstBehind(number: '0' | 'own.seq'): string {
    return (
      `SELECT of_same.seq FROM ${this.#name} AS of_same WHERE of_same.message_id = own.message_id AND of_same.queue = own.queue ` +
      `AND of_same.seq > ${number} AND of_same.not_before_ms IS NOT NULL ORDER BY of_same.seq LIMIT 1`
    );
  }

  /** @param isFull - true if the next look comes at once anyway */
  *#checkedByIndex(candidates: readonly TakenRow[], isFull: boolean): Steps<CheckedRows> {
    const next = isFull ? 'NULL' : `(${this.#firstBehind('own.seq')})`;
    const checked = yield [
      `SELECT seq, (${this.#firstBehind('0')}) AS first, ${next} AS next FROM ${this.#name} AS own ` +
        `WHERE seq IN (${placesFor(candidates)})`,
      seqsOf(candidates),
    ];
    const firsts = new Set(
      checked.filter(({ seq, first }) => Number(seq) === Number(first)).map(({ seq }) => Number(seq)),
    );
    return {
      rows: candidates.filter(({ seq }) => firsts.has(seq)),
      behindOthers: candidates.filter(({ seq }) => !firsts.has(seq)),
      haveNext: checked.some((row) => row.next !== null),
    };
  }

  /** For a table without the index, whose rows behind the first of a message are found as well. */
  *#checkedByScan(candidates: readonly TakenRow[]): Steps<CheckedRows> {
    const firsts = yield* this.#firstsOfOthers(candidates);
    const [rows, behindOthers]: [TakenRow[], TakenRow[]] = [[], []];
    const own = new Set<string>();
    for (const row of candidates) {
      const key = keyOf(row);
      if (firsts.get(key)! < row.seq) behindOthers.push(row);
      else if (!own.has(key)) rows.push(row);
      own.add(key);
    }
    return { rows, behindOthers, haveNext: candidates.length > rows.length + behindOthers.length };
  }

  /** Returns the lowest number of a row of each of these messages that another relay has, or that is retried later. */
  *#firstsOfOthers(taken: readonly TakenRow[]): Steps<ReadonlyMap<string, number>> {
    const mine = new Set(taken.map(({ seq }) => seq));
    const ids = [...new Set(taken.map(({ messageId }) => messageId))];
    const others = yield [
      `SELECT seq, queue, message_id FROM ${this.#name} WHERE seq > 0 AND seq < ? AND not_before_ms IS NOT NULL ` +
        `AND message_id IN (${placesFor(ids)}) ORDER BY seq DESC`,
      [taken.at(-1)!.seq, ...padded(ids)],
    ];
    const firsts = new Map<string, number>();
    for (const { seq, queue, message_id } of others) {
      if (!mine.has(Number(seq))) firsts.set(`${String(queue)} ${String(message_id)}`, Number(seq));
    }
    return firsts;
  }

  #setNotBefore(rows: readonly TakenRow[], to: string, values: readonly SqlValue[] = []): Statement {
    return [
      `UPDATE ${this.#name} SET not_before_ms = ${to} WHERE seq IN (${placesFor(rows)})`,
      [...values, ...seqsOf(rows)],
    ];
  }

  /** Moves rows that have failed for good in an earlier version, which left them among the others. */
  *#parkFailed(): Steps<void> {
    yield [parkFailedSql(this.#name)];
  }

  /** Inserts a row that is no message, unless it exists: others may do the same at the same time. */
  *#insertOnce(seq: number, operation: string, body: string): Steps<void> {
    yield [
      `INSERT INTO ${this.#name} (seq, operation, queue, message_id, body, written_at_ms) ` +
        `VALUES (?, ?, '', '', ?, ${this.#rules.now})${this.#rules.keepPresent}`,
      [seq, operation, body],
    ];
  }

  /** Runs a statement. On PostgreSQL, its commit wakes the relays. */
  *#announced(statement: string, values: readonly SqlValue[]): Steps<void> {
    if (this.dialect !== 'postgresql') {
      yield [statement, values];
      return;
    }
    yield [
      `WITH changed AS (${statement} RETURNING 1) SELECT pg_notify(?, '')::text AS told FROM (SELECT 1 FROM changed LIMIT 1) AS one`,
      [...values, this.name],
    ];
  }
}

/** The rows that were found, once they are locked. */
interface CheckedRows extends Pick<TakenRows, 'rows' | 'behindOthers'> {
  /** True if others of the same messages come next. */
  readonly haveNext: boolean;
}

/** @param table - quoted */
export function parkFailedSql(table: string): string {
  return `UPDATE ${table} SET seq = ${PARKED} - seq WHERE seq > 0 AND not_before_ms IS NULL`;
}

function parkedSeq(seq: number): number {
  return PARKED - seq;
}

/** Identifies a message: an id belongs to a queue. */
function keyOf({ queue, messageId }: Pick<TakenRow, 'queue' | 'messageId'>): string {
  return `${queue} ${messageId}`;
}

function takenRow(row: SqlRow): TakenRow {
  return {
    seq: Number(row.seq),
    operation: String(row.operation),
    queue: String(row.queue),
    messageId: String(row.message_id),
    body: String(row.body),
    delay: row.delay_ms === null ? null : Number(row.delay_ms),
    dueAt: row.due_at_ms === null ? null : Number(row.due_at_ms),
    waited: Number(row.waited),
    attempts: Number(row.attempts),
  };
}

function valuesOf({ operation, queue, messageId, body, due }: NewRow): SqlValue[] {
  const after = due && 'after' in due ? due.after : null;
  const at = due && 'at' in due ? due.at : null;
  return [operation, queue, messageId, body, after, at];
}

function* partsOf(rows: readonly NewRow[]): Generator<NewRow[]> {
  let part: NewRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    if (part.length === MAX_WRITTEN || (part.length > 0 && bytes + row.body.length > MAX_BYTES)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(row);
    bytes += row.body.length;
  }
  if (part.length > 0) yield part;
}

/** PostgreSQL has no NUL in a text. */
function storable(error: string): string {
  return error.replaceAll('\0', '').slice(0, MAX_ERROR).toWellFormed();
}

/** Pads a list, so that few different lengths make few different statements, which drivers and databases keep prepared. */
function padded<T>(list: readonly T[]): T[] {
  const length = 2 ** Math.ceil(Math.log2(list.length));
  return [...list, ...Array.from({ length: length - list.length }, () => list.at(-1)!)];
}

function placesFor(list: readonly unknown[]): string {
  return padded(list)
    .map(() => '?')
    .join(', ');
}

function seqsOf(rows: readonly { readonly seq: number }[]): number[] {
  return padded(rows.map(({ seq }) => seq));
}
