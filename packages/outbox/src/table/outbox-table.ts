import type { Dialect, SqlRow, SqlValue } from '../database/outbox-database.js';
import { DIALECTS, type DialectRules, quoted } from './dialects.js';
import type { FailedRow, NewRow, TakenRow } from './row.js';
import type { Steps } from './steps.js';

/** The row that is there while the outbox is paused. Rows count from 1. */
const PAUSED = -1;

/** How many rows one statement writes. */
const MOST_WRITTEN = 500;
/** How many bytes of bodies one statement writes, unless a single row has more. */
const MOST_BYTES = 1024 * 1024;
const LONGEST_ERROR = 2000;

/** How the outbox as a whole is doing. */
export interface TableStatus {
  readonly waiting: number;
  readonly failed: number;
  /** How long the oldest row has waited, ms by the clock of the database; 0: none waits. */
  readonly oldest: number;
  readonly paused: boolean;
}

/** What a relay finds. */
export interface TakenRows {
  /** One for each message. */
  readonly rows: readonly TakenRow[];
  /** They wait for others that somebody else has. */
  readonly behindOthers: readonly TakenRow[];
  /** How many there are, with those that wait for one of the rows. */
  readonly found: number;
}

/** The statements on the outbox's table. A row whose `not_before_ms` is NULL has failed for good: no relay takes it. */
export class OutboxTable {
  readonly #rules: DialectRules;
  readonly #name: string;

  constructor(
    private readonly dialect: Dialect,
    /** Also the channel on which PostgreSQL tells of new rows. */
    readonly name: string,
  ) {
    this.#rules = DIALECTS[dialect];
    this.#name = quoted(dialect, name);
  }

  /** Writes rows, in this order. On PostgreSQL, relays are told once they are committed. */
  *write(rows: readonly NewRow[]): Steps<void> {
    for (const part of partsOf(rows)) {
      const places = part.map(() => `(?, ?, ?, ?, ?, ?, ${this.#rules.now})`).join(', ');
      const columns = 'operation, queue, message_id, body, delay_ms, due_at_ms, written_at_ms';
      const insert = `INSERT INTO ${this.#name} (${columns}) VALUES ${places}`;
      yield* this.#announced(insert, part.flatMap(valuesOf));
    }
  }

  /**
   * Finds the oldest rows that nobody else has, and locks them: of each message the first, so that the order is kept, and
   * so that what a relay repeats after a crash is one operation, which has the same effect again. Two in a row would not: a reschedule
   * before an offer changes nothing, but repeated after it, it does.
   *
   * Predecessors are looked up after the rows are locked, in a statement of its own. One that is not visible then was
   * deleted, that is, relayed. One statement for both would compare rows of two instants, at least on MySQL.
   */
  *take(limit: number): Steps<TakenRows> {
    const { now, lock } = this.#rules;
    const found = yield [
      `SELECT seq, operation, queue, message_id, body, delay_ms, due_at_ms, attempts, ${now} - written_at_ms AS waited ` +
        `FROM ${this.#name} WHERE not_before_ms <= ${now} AND seq > 0 ` +
        `AND NOT EXISTS (SELECT 1 FROM ${this.#name} AS pause WHERE pause.seq = ${PAUSED}) ` +
        `ORDER BY seq LIMIT ${limit}${lock}`,
    ];
    const candidates = found.map(takenRow);
    const taken: { rows: TakenRow[]; behindOthers: TakenRow[]; found: number } = {
      rows: [],
      behindOthers: [],
      found: candidates.length,
    };
    if (candidates.length === 0) return taken;
    const firsts = yield* this.#firstsOfOthers(candidates);
    const own = new Set<string>();
    for (const row of candidates) {
      const key = keyOf(row);
      if (firsts.get(key)! < row.seq) taken.behindOthers.push(row);
      else if (!own.has(key)) taken.rows.push(row);
      own.add(key);
    }
    return taken;
  }

  /** Marks rows, so that no other relay takes them for a while. */
  *lease(rows: readonly TakenRow[], milliseconds: number): Steps<void> {
    if (rows.length === 0) return;
    const until = `${this.#rules.now} + ${milliseconds}`;
    yield [`UPDATE ${this.#name} SET not_before_ms = ${until} WHERE seq IN (${placesFor(rows)})`, seqsOf(rows)];
  }

  /** Gives up what {@link lease} has marked. */
  *release(rows: readonly { readonly seq: number }[]): Steps<void> {
    if (rows.length === 0) return;
    yield [`UPDATE ${this.#name} SET not_before_ms = 0 WHERE seq IN (${placesFor(rows)})`, seqsOf(rows)];
  }

  /** Removes rows that have been relayed. */
  *remove(rows: readonly { readonly seq: number }[]): Steps<void> {
    if (rows.length === 0) return;
    yield [`DELETE FROM ${this.#name} WHERE seq IN (${placesFor(rows)})`, seqsOf(rows)];
  }

  /** Notes why a row could not be relayed, and when it is tried again. */
  *fail({ seq, error, retryAfter }: FailedRow): Steps<void> {
    const notBefore = retryAfter === undefined ? 'NULL' : `${this.#rules.now} + ${retryAfter}`;
    const change = `attempts = attempts + 1, error = ?, not_before_ms = ${notBefore}`;
    yield [`UPDATE ${this.#name} SET ${change} WHERE seq = ?`, [storable(error), seq]];
  }

  *status(): Steps<TableStatus> {
    const [row = {}] = yield [
      `SELECT SUM(CASE WHEN seq > 0 AND not_before_ms IS NOT NULL THEN 1 ELSE 0 END) AS waiting, ` +
        `SUM(CASE WHEN seq > 0 AND not_before_ms IS NULL THEN 1 ELSE 0 END) AS failed, ` +
        `MAX(CASE WHEN seq > 0 AND not_before_ms IS NOT NULL THEN ${this.#rules.now} - written_at_ms ELSE 0 END) AS oldest, ` +
        `SUM(CASE WHEN seq = ${PAUSED} THEN 1 ELSE 0 END) AS paused FROM ${this.#name}`,
    ];
    const [waiting, failed, oldest, paused] = ['waiting', 'failed', 'oldest', 'paused'].map((of) =>
      Number(row[of] ?? 0),
    );
    return { waiting: waiting!, failed: failed!, oldest: Math.max(0, oldest!), paused: paused! > 0 };
  }

  /** Lists rows that have failed for good, oldest first. */
  *failed({ after, limit }: { readonly after: number; readonly limit: number }): Steps<readonly SqlRow[]> {
    return yield [
      `SELECT seq, operation, queue, message_id, body, written_at_ms, error FROM ${this.#name} ` +
        `WHERE not_before_ms IS NULL AND seq > ? ORDER BY seq LIMIT ${limit}`,
      [after],
    ];
  }

  /** Has failed rows tried again, in their old places. */
  *retry(seqs: readonly number[]): Steps<void> {
    const rows = seqs.map((seq) => ({ seq }));
    if (rows.length === 0) return;
    const update = `UPDATE ${this.#name} SET not_before_ms = 0, attempts = 0 WHERE seq IN (${placesFor(rows)}) AND not_before_ms IS NULL`;
    yield* this.#announced(update, padded(seqs));
  }

  *pause(): Steps<void> {
    if ((yield* this.status()).paused) return;
    yield [
      `INSERT INTO ${this.#name} (seq, operation, queue, message_id, body, written_at_ms) ` +
        `VALUES (${PAUSED}, 'pause', '', '', '', ${this.#rules.now})`,
    ];
  }

  *resume(): Steps<void> {
    yield* this.#announced(`DELETE FROM ${this.#name} WHERE seq = ?`, [PAUSED]);
  }

  /** Fails if the table is not there, or lacks a column. */
  *check(): Steps<void> {
    const columns =
      'seq, operation, queue, message_id, body, delay_ms, due_at_ms, written_at_ms, not_before_ms, attempts, error';
    yield [`SELECT ${columns} FROM ${this.#name} WHERE 1 = 0`];
  }

  /** The lowest number of a row of each of these messages that is in other hands, or is retried later. */
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

  /** Runs a statement; on PostgreSQL, its commit wakes the relays. */
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

/** What names a message: an id belongs to a queue. */
export function keyOf({ queue, messageId }: Pick<TakenRow, 'queue' | 'messageId'>): string {
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
    if (part.length === MOST_WRITTEN || (part.length > 0 && bytes + row.body.length > MOST_BYTES)) {
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
  return error.replaceAll('\0', '').slice(0, LONGEST_ERROR).toWellFormed();
}

/** Few different lengths make few different statements, which drivers and databases keep prepared. */
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
