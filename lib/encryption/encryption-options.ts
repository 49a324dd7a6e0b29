import { DelayQueueError } from '../message/delay-queue-errors.js';
import { showFailure } from '../message/failure.js';
import { kindOf, showGiven } from '../message/show-given.js';

/** The options of `encryption()`. */
export interface EncryptionOptions {
  /**
   * The keys by their ids: 32 random bytes each, as bytes or as base64 text. An id has 1–32 of the characters `A–Z a–z 0–9 _ . -`, and is
   * stored with each message. What any of these keys has encrypted can be read.
   */
  readonly keys: Readonly<Record<string, Uint8Array | string>>;
  /**
   * The id of the key that encrypts; null: messages are written in plain, and encrypted ones are still read, such as before the first
   * message is encrypted, or to stop encrypting.
   */
  readonly current: string | null;
  /**
   * What happens to messages that are not encrypted: `'read'` handles them, as is needed while there are any; `'refuse'` makes them dead
   * letters, because anybody who can write to Redis could have made them. Default: `'read'`.
   */
  readonly plain?: 'read' | 'refuse' | undefined;
}

const FIELDS: readonly string[] = ['keys', 'current', 'plain'] satisfies (keyof EncryptionOptions)[];

const KEY_BYTES = 32;
const KEY_ID = /^[A-Za-z0-9_.-]{1,32}$/;
/** Base64 of 32 bytes, in either alphabet, with or without its last character. */
const BASE64_KEY = /^[A-Za-z0-9+/_-]{43}=?$/;

interface ReadOptions {
  readonly keys: ReadonlyMap<string, Uint8Array>;
  readonly current: string | null;
  readonly plain: 'read' | 'refuse';
}

/** Checks the options. Reads each key once, and shows none of it. @throws DelayQueueError `INVALID_OPTION` */
export function readOptions(given: EncryptionOptions): ReadOptions {
  try {
    return read(given);
  } catch (error) {
    if (error instanceof DelayQueueError) throw error;
    throw invalid(`a value cannot be read (${showFailure(error)})`);
  }
}

function read(given: EncryptionOptions): ReadOptions {
  if (typeof given !== 'object' || (given as unknown) === null) {
    throw invalid(`must be given an object with keys and current, not ${kindOf(given)}`);
  }
  const unknown = Object.keys(given).find((name) => !FIELDS.includes(name));
  // Not its name either: it may be a key that was given as a field.
  if (unknown !== undefined) throw invalid(`the options are ${FIELDS.join(', ')}; there is another one`);
  const { keys, current, plain = 'read' } = given;
  if (typeof keys !== 'object' || (keys as unknown) === null || Array.isArray(keys)) {
    throw invalid(`keys: must be an object with keys by their ids, not ${kindOf(keys)}`);
  }
  const known = new Map(Object.entries(keys).map(([id, key]) => [readId(id), readKey(id, key)]));
  if (known.size === 0) throw invalid('keys: has no key. Make one with: openssl rand -base64 32');
  if (current !== null && (typeof current !== 'string' || !known.has(current))) {
    const ids = [...known.keys()].join(', ');
    throw invalid(
      `current: must be the id of one of the keys (${ids}), or null to write in plain, not ${kindOf(current)}`,
    );
  }
  if (plain !== 'read' && plain !== 'refuse')
    throw invalid(`plain: must be 'read' or 'refuse', not ${showGiven(plain)}`);
  return { keys: known, current, plain };
}

function readId(id: string): string {
  if (KEY_ID.test(id)) return id;
  throw invalid('keys: an id has 1–32 of the characters A–Z a–z 0–9 _ . -, and one has not');
}

function readKey(id: string, key: unknown): Uint8Array {
  const advice = `must be ${KEY_BYTES} random bytes, as bytes or as base64. Make them with: openssl rand -base64 32`;
  if (key instanceof Uint8Array) {
    if (key.length === KEY_BYTES) return key;
    throw invalid(`keys.${id}: ${advice}. It has ${key.length} bytes`);
  }
  if (typeof key !== 'string') throw invalid(`keys.${id}: ${advice}. It is ${kindOf(key)}`);
  if (BASE64_KEY.test(key)) return Buffer.from(key, 'base64');
  throw invalid(`keys.${id}: ${advice}. It is other text, of ${key.length} characters`);
}

function invalid(problem: string): DelayQueueError {
  return new DelayQueueError('INVALID_OPTION', `encryption(): ${problem}`);
}
