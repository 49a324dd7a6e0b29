import { EncryptedPayload } from '../message/codec/encrypted-payload.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { dueAt } from '../message/duration.js';
import { isInstance } from '../message/failure.js';
import { assertGroup, assertMessageType, NO_TYPE } from '../message/message-id.js';
import type { MessageSnapshot, MessageState } from '../message/message.js';
import { assertState } from '../message/page.js';
import { readFields } from '../message/read-fields.js';
import { showGiven } from '../message/show-given.js';
import type { StoredMessage } from '../store/admin-store.js';
import { formatCursor } from '../store/page-cursor.js';
import { frameOf } from './stack-frame.js';

/** Selects messages in one state. A message matches if everything given is true of it. */
export interface MessageFilter {
  readonly state: MessageState;
  /** The beginning of the id. */
  readonly idPrefix?: string | undefined;
  /** The type; `''` for messages without a type. */
  readonly type?: string | undefined;
  readonly group?: string | undefined;
  /**
   * Text in the payload or in the name or value of a header, in upper or lower case: 1–1000 characters. A payload is searched as JSON, or as
   * UTF-8 if it is a `Buffer`. It cannot be found in an `EncryptedPayload`: results count those as `encrypted`.
   */
  readonly text?: string | undefined;
  /** The due time: at or after `from`, and before `to`. */
  readonly due?: { readonly from?: Date | undefined; readonly to?: Date | undefined } | undefined;
  /** True: only messages that repeat; false: only those that do not. */
  readonly repeats?: boolean | undefined;
  /** Only for dead letters: the name of the error and, if given, the first frame of its stack, as `deadLetters().byError()` returns them. */
  readonly error?: { readonly name: string; readonly frame?: string | undefined } | undefined;
}

const FIELDS: readonly (keyof MessageFilter)[] = [
  'state',
  'idPrefix',
  'type',
  'group',
  'text',
  'due',
  'repeats',
  'error',
];
const MAX_TEXT = 1000;

type Test = (message: StoredMessage) => boolean;
type SnapshotTest = (message: MessageSnapshot) => boolean;

/** A filter that has been checked. */
export class CheckedFilter {
  readonly state: MessageState;
  /** Where a search begins; undefined: at the first message. */
  readonly start: string | undefined;
  /** The due time at which a search of delayed messages ends. */
  readonly #end: number;
  /** The tests that need not decode the body, and the others. */
  readonly #tests: readonly Test[];
  readonly #snapshotTests: readonly SnapshotTest[];
  readonly #textTest: SnapshotTest | undefined;

  /** @throws DelayQueueError `INVALID_ARGUMENT` */
  constructor(given: MessageFilter) {
    const { state, idPrefix, type, group, text, due, repeats, error } = readFields(given, 'filter', FIELDS);
    assertState(state);
    const { from, to } = readRange(due);
    this.state = state;
    this.start = state === 'delayed' && from !== undefined ? placeBefore(from) : undefined;
    this.#end = state === 'delayed' ? (to ?? Infinity) : Infinity;
    const prefix = readText('idPrefix', idPrefix);
    this.#tests = [
      prefix !== undefined && (({ id }: StoredMessage) => id.startsWith(prefix)),
      from !== undefined && (({ dueAt }: StoredMessage) => dueAt >= from),
      to !== undefined && (({ dueAt }: StoredMessage) => dueAt < to),
    ].filter((test) => test !== false);
    if (type !== undefined && type !== NO_TYPE) assertMessageType(type);
    if (group !== undefined) assertGroup(group);
    if (repeats !== undefined && typeof repeats !== 'boolean') {
      throw invalid(`repeats must be true or false, not ${showGiven(repeats)}`);
    }
    this.#snapshotTests = [
      type !== undefined && ((message: MessageSnapshot) => message.type === type),
      group !== undefined && ((message: MessageSnapshot) => message.group === group),
      repeats !== undefined && ((message: MessageSnapshot) => (message.repeat !== undefined) === repeats),
      error !== undefined && testOfError(state, error),
    ].filter((test) => test !== false);
    this.#textTest = text === undefined ? undefined : testOfText(readText('text', text)!);
  }

  /** True if neither this delayed message nor any behind it matches. */
  isBehind({ dueAt }: StoredMessage): boolean {
    return dueAt >= this.#end;
  }

  /** Returns the message as users see it; undefined if it does not match, and `'encrypted'` if only its text cannot be searched. */
  select<Snapshot extends MessageSnapshot>(
    message: StoredMessage,
    show: (message: StoredMessage) => Snapshot,
  ): Snapshot | 'encrypted' | undefined {
    if (!this.#tests.every((test) => test(message))) return undefined;
    const snapshot = show(message);
    if (!this.#snapshotTests.every((test) => test(snapshot))) return undefined;
    if (!this.#textTest) return snapshot;
    if (isInstance(snapshot.payload, EncryptedPayload)) return 'encrypted';
    return this.#textTest(snapshot) ? snapshot : undefined;
  }
}

/**
 * Returns a cursor before all messages that fall due at a time or later. Messages due in the millisecond before may come behind it, if their
 * places have a fraction or an unusual name.
 */
function placeBefore(instant: number): string {
  return formatCursor('delayed', `${instant - 1}:\uffff`);
}

function readRange(due: MessageFilter['due']): { readonly from?: number; readonly to?: number } {
  if (due === undefined) return {};
  const { from, to } = readFields(due, 'due', ['from', 'to']);
  const range = {
    ...(from !== undefined && { from: dueAt(from, 'due.from').at }),
    ...(to !== undefined && { to: dueAt(to, 'due.to').at }),
  };
  if ((range.from ?? -Infinity) < (range.to ?? Infinity)) return range;
  throw invalid('due.to must be later than due.from');
}

function readText(name: string, text: unknown): string | undefined {
  if (text === undefined) return undefined;
  if (typeof text === 'string' && text.length > 0 && text.length <= MAX_TEXT) return text;
  throw invalid(`${name} must be text of 1–${MAX_TEXT} characters, not ${showGiven(text)}`);
}

function testOfError(state: MessageState, given: NonNullable<MessageFilter['error']>): SnapshotTest {
  const { name, frame } = readFields(given, 'error', ['name', 'frame']);
  if (state !== 'dead') throw invalid("error: only dead letters have one; set state: 'dead'");
  for (const [field, value] of Object.entries({ name, frame: frame ?? '' })) {
    if (typeof value !== 'string') throw invalid(`error.${field} must be text, not ${showGiven(value)}`);
  }
  return ({ error }) => error?.name === name && (frame === undefined || frameOf(error?.stack) === frame);
}

function testOfText(text: string): SnapshotTest {
  const wanted = text.toLowerCase();
  const contains = (searched: string) => searched.toLowerCase().includes(wanted);
  return ({ payload, headers }) => contains(textOf(payload)) || Object.entries(headers).flat().some(contains);
}

/** Returns a payload as text; empty if it cannot be written as JSON, such as what a custom codec may return. */
function textOf(payload: unknown): string {
  if (Buffer.isBuffer(payload)) return payload.toString();
  try {
    return JSON.stringify(payload, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)) ?? '';
  } catch {
    return '';
  }
}

function invalid(problem: string): DelayQueueError {
  return new DelayQueueError('INVALID_ARGUMENT', `filter: ${problem}`);
}
