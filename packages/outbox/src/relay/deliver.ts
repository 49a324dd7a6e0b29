import { DelayQueueError, type DelayQueueErrorCode, type MessageChange } from 'nestjs-delay-queue';
import type { FailedRow, Operation, RowBody, TakenRow } from '../table/row.js';
import { decryptedChange, payloadOf } from '../table/encrypted-row.js';
import type { RelayedCalls, RelayTarget } from './relay-target.js';

/** The result of delivering the rows of a batch. */
export interface Delivery {
  readonly done: readonly TakenRow[];
  readonly failed: readonly FailedRow[];
  /** Queues that currently refuse all offers. */
  readonly refusing: ReadonlySet<string>;
  /** Rows that Redis may not have. They stay as they are. */
  readonly left: readonly TakenRow[];
  /** Why Redis could not be reached, if so. */
  readonly unreachable: unknown;
}

/** Errors that another attempt would not change. */
const PERMANENT: readonly DelayQueueErrorCode[] = [
  'INVALID_ARGUMENT',
  'INVALID_OPTION',
  'INVALID_PAYLOAD',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_BY_LAYOUT',
];

/** Errors that concern Redis and not the row. */
const UNREACHABLE: readonly DelayQueueErrorCode[] = [
  'NOT_CONNECTED',
  'OUTCOME_UNKNOWN',
  'LOGIN_REFUSED',
  'UNSUPPORTED_SERVER',
  'CLOSED',
];

/** Errors that concern the queue, so that other offers to it fail as well. */
const REFUSING: readonly DelayQueueErrorCode[] = ['QUEUE_FULL', 'STORE_REFUSED'];

/** The pauses of a row that Redis refuses for now, such as one of a full queue, ms. */
const MIN_PAUSE = 1000;
const MAX_PAUSE = 60_000;

/**
 * Hands rows of different messages to the delay queue, all at once, so that they take few calls. It may be interrupted at any point and
 * repeated: an offer whose message is still in the queue keeps that one, and a cancel or a reschedule has the same effect again.
 * @param notAfter - an instant of `performance.now()` after which the calls fail
 */
export async function deliver(calls: Calls, rows: readonly TakenRow[], notAfter: number): Promise<Delivery> {
  const done: TakenRow[] = [];
  const failed: FailedRow[] = [];
  const left: TakenRow[] = [];
  const refusing = new Set<string>();
  let unreachable: unknown;
  const deliverRow = async (row: TakenRow): Promise<void> => {
    try {
      await carryOut(calls, row);
      done.push(row);
    } catch (error) {
      if (hasCode(error, UNREACHABLE) || performance.now() > notAfter) {
        unreachable = error;
        left.push(row);
        return;
      }
      if (row.operation.startsWith('offer') && hasCode(error, REFUSING)) refusing.add(row.queue);
      failed.push(failureOf(row, error));
    }
  };
  await Promise.all(rows.map(deliverRow));
  return { done, failed, refusing, left, unreachable };
}

interface Calls {
  readonly producer: RelayedCalls;
  readonly target: RelayTarget | undefined;
}

async function carryOut({ producer, target }: Calls, row: TakenRow): Promise<void> {
  const { operation, queue, messageId: id, delay, dueAt, waited } = row;
  // The rest of the delay, by the clock of the database alone, because that of Redis may differ.
  const due = dueAt === null ? Math.max(0, (delay ?? 0) - waited) : new Date(dueAt);
  switch (operation as Operation) {
    case 'offer':
    case 'offer-encrypted': {
      const { payload, base64, encrypted, ...others } = readBody(row);
      const content = payloadOf({ payload, base64, encrypted });
      const options = { ...others, id };
      if (due instanceof Date) await producer.offerAt(queue, content, due, options);
      else await producer.offer(queue, content, due, options);
      return;
    }
    case 'cancel':
      await producer.cancel(queue, id);
      return;
    case 'reschedule':
      await producer.reschedule(queue, id, due, changeOf(readBody(row)));
      return;
    case 'change-encrypted':
      await producer.reschedule(queue, id, due, changeOf(decryptedChange(queue, readBody(row), target)));
      return;
  }
}

/** Makes what a reschedule changes beside the due time. */
function changeOf({ headers, type, attempts, backoff, ...body }: RowBody): MessageChange {
  const content = payloadOf(body);
  return { ...(content !== undefined && { payload: content }), headers, type, attempts, backoff };
}

/** A row that this version cannot read. */
class UnreadableRow extends Error {
  override readonly name = 'UnreadableRow';
}

function readBody({ body }: TakenRow): RowBody {
  let read: unknown;
  try {
    read = JSON.parse(body);
  } catch (cause) {
    // The parser's message quotes the payload.
    throw new UnreadableRow('body: it is not JSON', { cause });
  }
  if (typeof read !== 'object' || read === null) throw new UnreadableRow('body: it is not a JSON object');
  const { base64, encrypted } = read as Record<string, unknown>;
  if (!isAbsentOr(base64, isText)) throw new UnreadableRow('body: base64 is not text');
  if (!isAbsentOr(encrypted, isEncrypted)) throw new UnreadableRow('body: encrypted is not an encrypted payload');
  return read;
}

function isAbsentOr(value: unknown, isValid: (value: unknown) => boolean): boolean {
  return value === undefined || isValid(value);
}

const isText = (value: unknown): value is string => typeof value === 'string';

function isEncrypted(value: unknown): boolean {
  const { encryptedWith, base64 } = (value ?? {}) as Record<string, unknown>;
  return isText(encryptedWith) && isText(base64);
}

function failureOf(row: TakenRow, error: unknown): FailedRow {
  const retryAfter = isPermanent(error) ? undefined : pauseOf(row, error);
  if (!(error instanceof Error)) return { row, error: String(error), code: typeof error, retryAfter };
  const code = codeOf(error);
  return { row, error: `${code}: ${error.message}`, code, retryAfter };
}

/** The pause of a queue that refuses offers belongs to the queue. */
function pauseOf({ attempts }: TakenRow, error: unknown): number {
  return hasCode(error, REFUSING) ? MIN_PAUSE : Math.min(MIN_PAUSE * 2 ** attempts, MAX_PAUSE);
}

function isPermanent(error: unknown): boolean {
  return error instanceof UnreadableRow || hasCode(error, PERMANENT);
}

/** Compares names and not classes, because the package may be loaded twice. */
function hasCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && codes.includes(codeOf(error));
}

function codeOf(error: Error): string {
  return error.name === DelayQueueError.name ? (error as DelayQueueError).code : error.name;
}
