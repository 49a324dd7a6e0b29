import { isUtf8 } from 'node:buffer';
import { groupOf } from '../message/codec/body-forms.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { assertGroup, assertMessageId } from '../message/message-id.js';
import { PAUSED_UNTIL } from '../message/repeat-rule.js';
import { showGiven } from '../message/show-given.js';
import type { HandlingWorker } from '../store/consumer-store.js';
import type { Follower, ScannedEntry, ScannedId, ScannedMessage } from '../store/message-past.js';
import type { Rate } from '../store/message-store.js';

/** The version of the format that this version writes. It reads all up to this one. */
export const FORMAT_VERSION = 1;

/**
 * A line of an export. The names of fields are the format, which `docs/moving.md` describes: a later version may add fields, and kinds of
 * lines, only with another format version. Times are in ms since the epoch, by Redis' clock.
 */
export type ExportLine =
  HeaderLine | SettingsLine | GroupLine | DeclaredLine | MessageLine | HandledLine | KeptLine | EndLine;

export interface HeaderLine {
  readonly kind: 'export';
  readonly version: number;
  readonly queue: string;
  readonly layout: string;
  readonly prefix: string;
  readonly at: number;
}

export interface SettingsLine {
  readonly kind: 'settings';
  readonly paused: boolean;
  /** Limits that were set while the queue ran; null: no limit. Absent if none were set. */
  readonly limits?: {
    readonly globalConcurrency?: number | null;
    readonly rate?: Rate | null;
    readonly by: string;
    readonly at: number;
  };
}

export interface GroupLine {
  readonly kind: 'group';
  readonly group: string;
  readonly paused: boolean;
  readonly concurrency?: number | 'unlimited' | undefined;
}

/** A repeating message that a handler has declared. If it is cancelled, it must not be offered again elsewhere. */
export interface DeclaredLine {
  readonly kind: 'declared';
  readonly id: string;
}

export interface MessageLine extends BodyFields {
  readonly kind: 'message';
  readonly id: string;
  readonly due: number;
  readonly offered: number;
  readonly failed?: number;
  readonly rank?: number;
  readonly held?: true;
  readonly died?: { readonly at: number; readonly error: string };
  readonly follower?: BodyFields & { readonly after?: number; readonly at?: number };
}

/** What the queue remembers of a handled message. It has a body if the queue keeps payloads. */
export interface HandledLine extends BodyFields {
  readonly kind: 'handled';
  readonly id: string;
  readonly at: number;
  readonly until: number;
  readonly due: number;
  readonly offered: number;
  readonly lateness: number;
  readonly took: number;
  readonly attempt: number;
  readonly type?: string;
  readonly group?: string;
  readonly worker: HandlingWorker;
}

/** An id that the queue keeps, because its message was handled `at` this time. */
export interface KeptLine {
  readonly kind: 'kept';
  readonly id: string;
  readonly at: number;
  readonly until: number;
  /** True if the message had a group. */
  readonly grouped?: true;
}

/** A body as stored: as text, or in base64 if it is not UTF-8. */
interface BodyFields {
  readonly body?: string;
  readonly base64?: string;
}

export interface EndLine {
  readonly kind: 'end';
  readonly messages: number;
  readonly digest: string;
  readonly inUse: boolean;
}

/** Writes a line, without its end. Escapes characters that a terminal would obey. */
export function writeLine(line: ExportLine): string {
  return JSON.stringify(line).replace(/[\p{Control}\p{Format}\u2028\u2029]/gu, (character) =>
    Array.from({ length: character.length }, (_, i) => escapeOf(character.charCodeAt(i))).join(''),
  );
}

const escapeOf = (unit: number) => `\\u${unit.toString(16).padStart(4, '0')}`;

export function lineOf({ id, dueAt, body, ...past }: ScannedMessage): MessageLine {
  const { offeredAt, failedAttempts, rank, isHeld, death, follower } = past;
  return {
    ...{ kind: 'message', id, due: dueAt, offered: offeredAt },
    ...(failedAttempts > 0 && { failed: failedAttempts }),
    ...(rank !== undefined && { rank }),
    ...(isHeld && { held: true as const }),
    ...(death && { died: { at: death.at, error: death.error } }),
    ...(follower && { follower: { ...follower.due, ...bodyFields(follower.body) } }),
    ...bodyFields(body),
  };
}

export function lineOfHandled({ id, handledAt: at, until, entry, body }: ScannedEntry): HandledLine {
  const { dueAt: due, offeredAt: offered, lateness, took, attempt, type, group, worker } = entry;
  return {
    ...{ kind: 'handled', id, at, until, due, offered, lateness, took, attempt },
    ...(type !== undefined && { type }),
    ...(group !== undefined && { group }),
    worker,
    ...(body.length > 0 && bodyFields(body)),
  };
}

export function lineOfKept({ id, handledAt: at, until }: ScannedId, isGrouped: boolean): KeptLine {
  return { kind: 'kept', id, at, until, ...(isGrouped && { grouped: true }) };
}

function bodyFields(body: Buffer): BodyFields {
  return isUtf8(body) ? { body: body.toString() } : { base64: body.toString('base64') };
}

/** A message as an export describes it. Its state follows from its due time, unless it is dead. */
export type ExportedMessage = Omit<ScannedMessage, 'state'> & { readonly group: string | undefined };

/**
 * Reads a line.
 * @param number - of the line, from 1, for errors
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export function readLine(text: string, number: number): ExportLine {
  const where = `line ${number}`;
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw invalid(where, 'it is not JSON; the file may be cut or damaged');
  }
  const line = new Fields(given, where);
  const kind = line.oneOf('kind', Object.keys(READERS) as ExportLine['kind'][]);
  return READERS[kind](line);
}

const READERS: { readonly [Kind in ExportLine['kind']]: (line: Fields) => Extract<ExportLine, { kind: Kind }> } = {
  export: (line) => {
    const [queue, layout, prefix] = (['queue', 'layout', 'prefix'] as const).map((field) => line.text(field));
    const version = line.count('version');
    if (version > FORMAT_VERSION) {
      const advice = `this version of nestjs-delay-queue reads up to ${FORMAT_VERSION}; use the newer one that wrote it`;
      throw invalid(line.where, `the format has version ${version}, but ${advice}`);
    }
    return { kind: 'export', version, queue: queue!, layout: layout!, prefix: prefix!, at: line.time('at') };
  },
  settings: (line) => {
    const limits = line.inner('limits');
    return { kind: 'settings', paused: line.flag('paused'), ...(limits && { limits: readLimits(limits) }) };
  },
  group: (line) => {
    const group = line.checked('group', assertGroup);
    const given = line.given('concurrency');
    const concurrency = given === undefined || given === 'unlimited' ? given : line.count('concurrency', 1);
    return { kind: 'group', group, paused: line.flag('paused'), concurrency };
  },
  declared: (line) => ({ kind: 'declared', id: line.checked('id', assertMessageId) }),
  message: (line) => {
    const due = line.time('due');
    const [died, follower] = [line.inner('died'), line.inner('follower')];
    return {
      ...{ kind: 'message', id: line.checked('id', assertMessageId), due, offered: line.time('offered') },
      ...(line.has('failed') && { failed: line.count('failed') }),
      ...(line.has('rank') && { rank: line.rank('rank', due) }),
      ...(line.has('held') && line.flag('held') && { held: true as const }),
      ...(died && { died: { at: died.time('at'), error: died.text('error') } }),
      ...(follower && { follower: { ...readDue(follower), ...readBodyFields(follower) } }),
      ...readBodyFields(line),
    };
  },
  handled: (line) => ({
    ...{ kind: 'handled', id: line.checked('id', assertMessageId), ...readPeriod(line) },
    ...{
      due: line.time('due'),
      offered: line.time('offered'),
      lateness: line.time('lateness'),
      took: line.time('took'),
    },
    attempt: line.count('attempt', 1),
    ...(line.has('type') && { type: line.text('type') }),
    ...(line.has('group') && { group: line.checked('group', assertGroup) }),
    worker: readWorker(line),
    ...((line.has('body') || line.has('base64')) && readBodyFields(line)),
  }),
  kept: (line) => ({
    ...{ kind: 'kept', id: line.checked('id', assertMessageId), ...readPeriod(line) },
    ...(line.has('grouped') && line.flag('grouped') && { grouped: true as const }),
  }),
  end: (line) => {
    const digest = line.text('digest');
    return { kind: 'end', messages: line.count('messages'), digest, inUse: line.flag('inUse') };
  },
};

function readLimits(limits: Fields): NonNullable<SettingsLine['limits']> {
  const rate = limits.inner('rate');
  return {
    ...(limits.has('globalConcurrency') && { globalConcurrency: limits.countOrNull('globalConcurrency') }),
    ...(limits.has('rate') && { rate: rate ? { max: rate.count('max', 1), per: rate.count('per', 1) } : null }),
    ...{ by: limits.text('by'), at: limits.time('at') },
  };
}

function readPeriod(line: Fields): { at: number; until: number } {
  return { at: line.time('at'), until: line.time('until') };
}

function readWorker(line: Fields): HandlingWorker {
  const worker = line.needed('worker');
  return { id: worker.text('id'), host: worker.text('host'), pid: worker.count('pid') };
}

function readDue(follower: Fields): { after: number } | { at: number } {
  return follower.has('after') ? { after: follower.time('after') } : { at: follower.time('at') };
}

function readBodyFields(line: Fields): BodyFields {
  return line.has('base64') ? { base64: line.base64('base64') } : { body: line.text('body') };
}

/** Returns the message that a line describes. @throws DelayQueueError `INVALID_ARGUMENT` if its body names an impossible group */
export function messageOf(line: MessageLine, number: number): ExportedMessage {
  const { id, due, offered, failed = 0, rank, held = false, died, follower } = line;
  const body = bodyOf(line);
  const group = groupOf(body);
  if (group !== undefined) checked(`line ${number}`, group, assertGroup);
  return {
    ...{ id, dueAt: due, body, group, offeredAt: offered, failedAttempts: failed, rank, isHeld: held },
    death: died ?? null,
    ...(follower && { follower: followerOf(follower) }),
  };
}

/** Returns the entry that a line describes. */
export function entryOf(line: HandledLine): ScannedEntry {
  const { id, at, until, due: dueAt, offered: offeredAt, lateness, took, attempt, type, group, worker } = line;
  const entry = {
    ...{ dueAt, offeredAt, lateness, took, attempt },
    ...(type !== undefined && { type }),
    ...(group !== undefined && { group }),
    worker,
  };
  const hasBody = line.body !== undefined || line.base64 !== undefined;
  return { id, handledAt: at, until, entry, body: hasBody ? bodyOf(line) : NO_BYTES };
}

const NO_BYTES = Buffer.alloc(0);

function followerOf(follower: NonNullable<MessageLine['follower']>): Follower {
  const { after, at } = follower;
  return { due: after === undefined ? { at: at! } : { after }, body: bodyOf(follower) };
}

function bodyOf({ body, base64 }: BodyFields): Buffer {
  return body === undefined ? Buffer.from(base64!, 'base64') : Buffer.from(body);
}

/** The fields of a line, or of an object within it. Each method throws `INVALID_ARGUMENT` unless the field has the expected form. */
class Fields {
  readonly #given: Readonly<Record<string, unknown>>;

  constructor(
    given: unknown,
    readonly where: string,
  ) {
    if (typeof given !== 'object' || given === null)
      throw invalid(where, `it must be an object, not ${showGiven(given)}`);
    this.#given = given as Record<string, unknown>;
  }

  given(field: string): unknown {
    return this.#given[field];
  }

  has(field: string): boolean {
    return this.#given[field] !== undefined;
  }

  inner(field: string): Fields | undefined {
    const given = this.#given[field];
    return given === undefined || given === null ? undefined : this.needed(field);
  }

  needed(field: string): Fields {
    return new Fields(this.#given[field], `${this.where}: ${field}`);
  }

  text(field: string): string {
    const given = this.#given[field];
    if (typeof given === 'string' && given.isWellFormed()) return given;
    throw this.#unlike(field, 'text without unpaired surrogates');
  }

  base64(field: string): string {
    const text = this.text(field);
    if (Buffer.from(text, 'base64').toString('base64') === text) return text;
    throw this.#unlike(field, 'base64');
  }

  flag(field: string): boolean {
    const given = this.#given[field];
    if (typeof given === 'boolean') return given;
    throw this.#unlike(field, 'true or false');
  }

  count(field: string, min = 0): number {
    return this.#whole(field, min, MAX_COUNT);
  }

  countOrNull(field: string): number | null {
    return this.#given[field] === null ? null : this.count(field, 1);
  }

  time(field: string): number {
    return this.#whole(field, 0, PAUSED_UNTIL);
  }

  rank(field: string, due: number): number {
    const given = this.#given[field];
    if (typeof given === 'number' && given >= due && given < due + 1) return given;
    throw this.#unlike(field, `from ${due} to less than a millisecond later`);
  }

  oneOf<Value extends string>(field: string, values: readonly Value[]): Value {
    const given = this.#given[field];
    if ((values as readonly unknown[]).includes(given)) return given as Value;
    throw this.#unlike(field, values.map((value) => `'${value}'`).join(' or '));
  }

  checked(field: string, assert: (given: unknown) => asserts given is string): string {
    const given = this.#given[field];
    checked(this.where, given, assert);
    return given as string;
  }

  #whole(field: string, min: number, max: number): number {
    const given = this.#given[field];
    if (Number.isInteger(given) && (given as number) >= min && (given as number) <= max) return given as number;
    throw this.#unlike(field, `a whole number from ${min} to ${max}`);
  }

  #unlike(field: string, rule: string): DelayQueueError {
    return invalid(this.where, `${field} must be ${rule}, not ${showGiven(this.#given[field])}`);
  }
}

const MAX_COUNT = 1_000_000_000;

function checked(where: string, given: unknown, assert: (given: unknown) => void): void {
  try {
    assert(given);
  } catch (error) {
    throw invalid(where, (error as Error).message);
  }
}

export function invalid(where: string, problem: string): DelayQueueError {
  return new DelayQueueError('INVALID_ARGUMENT', `${where}: ${problem}`);
}
