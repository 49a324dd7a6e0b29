import { randomBytes } from 'node:crypto';
import { DelayQueueError } from './delay-queue-errors.js';
import { showGiven } from './show-given.js';

/** 64 characters in the order of their codes, so ids sort like the numbers that they encode. */
const ALPHABET = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
const TIME_CHARACTERS = 7;
const ORIGIN_CHARACTERS = 7;
const COUNTER_END = 64 ** 2;

/**
 * Generates ids of 16 characters that sort in the order in which a generator made them. Messages due in the same millisecond are ordered by
 * id, so they keep the order of their offers.
 *
 * An id has 42 bits of time (until 2109), a 12-bit counter, and the generator's 42 random bits. The counter overflows into the time, which
 * never goes back, so neither a clock that is set back nor 4096 ids within a millisecond can break the order.
 */
export class MessageIdGenerator {
  readonly #origin = newOrigin();
  #time = 0;
  /** The characters for `#time`, kept because a busy process makes many ids in the same millisecond. */
  #timeText = '';
  #counter = 0;

  /** @param now - milliseconds since the epoch */
  constructor(private readonly now: () => number = Date.now) {}

  /** @param origin - the id's suffix; default: this generator's random bits */
  next(origin = this.#origin): string {
    const now = this.now();
    if (now > this.#time) this.#begin(now);
    else if (++this.#counter === COUNTER_END) this.#begin(this.#time + 1);
    return this.#timeText + ALPHABET.charAt(this.#counter >> 6) + ALPHABET.charAt(this.#counter & 63) + origin;
  }

  #begin(time: number): void {
    this.#time = time;
    this.#timeText = '';
    for (let rest = time, i = 0; i < TIME_CHARACTERS; i++, rest = Math.floor(rest / 64))
      this.#timeText = ALPHABET.charAt(rest % 64) + this.#timeText;
    this.#counter = 0;
  }
}

/** Generates the suffix of ids that tells one generator's ids from another's. */
export function newOrigin(): string {
  return encodeRandom(ORIGIN_CHARACTERS);
}

/** The maximum length of an id, in bytes. */
export const MAX_ID_BYTES = 256;

/** An unpaired surrogate has no UTF-8 form, so ids that differ only in such a surrogate would be one and the same in Redis. */
const NO_ID_CHARACTER = /[\p{Control}\p{Surrogate}]/u;

/** Asserts that a message id is valid, or throws `INVALID_ARGUMENT`. */
export function assertMessageId(id: unknown): asserts id is string {
  if (!isName(id)) throw notAName('id: a message id', id);
}

/** Asserts that a group name is valid, by the rules for ids, or throws `INVALID_ARGUMENT`. */
export function assertGroup(group: unknown): asserts group is string {
  if (!isName(group)) throw notAName('group: the name of a group', group);
}

function isName(given: unknown): given is string {
  if (typeof given !== 'string' || given.length === 0) return false;
  return Buffer.byteLength(given) <= MAX_ID_BYTES && !NO_ID_CHARACTER.test(given);
}

function notAName(what: string, given: unknown): DelayQueueError {
  const rule = `must be text of 1–${MAX_ID_BYTES} bytes without control characters or unpaired surrogates`;
  return new DelayQueueError('INVALID_ARGUMENT', `${what} ${rule}, not ${showGiven(given)}`);
}

function encodeRandom(characters: number): string {
  return Array.from(randomBytes(characters), (byte) => ALPHABET.charAt(byte % 64)).join('');
}

/** The type of a message that was offered without a type. */
export const NO_TYPE = '';

const MESSAGE_TYPE = /^[A-Za-z0-9_.:-]{1,64}$/;

export const MESSAGE_TYPE_RULE = 'a message type has 1–64 of the characters A–Z a–z 0–9 _ . : -';

export function isMessageType(type: unknown): type is string {
  return typeof type === 'string' && MESSAGE_TYPE.test(type);
}

export function assertMessageType(type: unknown): asserts type is string {
  if (isMessageType(type)) return;
  throw new DelayQueueError(
    'INVALID_ARGUMENT',
    `type: ${MESSAGE_TYPE_RULE}, not ${showGiven(type)}; leave it out for none`,
  );
}
