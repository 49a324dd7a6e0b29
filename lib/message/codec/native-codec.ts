import { types } from 'node:util';
import { DelayQueueError } from '../delay-queue-errors.js';
import { isMessageType, NO_TYPE } from '../message-id.js';
import type { MessageHeaders } from '../message.js';
import { isInstance } from '../failure.js';
import { EncryptedPayload } from './encrypted-payload.js';
import {
  encryptedLines,
  isPutOff,
  linesBefore,
  NAMED_FORMS,
  UnknownBodyForm,
  unwrapPutOff,
  withoutProgress,
  wrap,
} from './body-forms.js';
import { writeJsonData } from './json-data.js';
import type { MessageBody, MessageCodec, MessageContent } from './message-codec.js';

/** The properties of a body's form, as bits. */
const BYTES = 1;
const TYPED = 2;
const HEADED = 4;

/** The letter of each form; the form's bits are the index. */
const KINDS = 'JBKCjbkc';

const FORMS: ReadonlyMap<string, number> = new Map([...KINDS].map((kind, form) => [kind, form]));

/** Matches the first line of a later version's body, which names its form. */
const NEWER_FORM = /^N([A-Za-z0-9_.:-]{1,64})\n/;

/**
 * Matches the first lines of a message that was put off, has a group, repeats, has its own attempts, expires, is encrypted, or has a
 * type.
 */
const FIRST_LINES =
  /^(?:W\d+\n)*(?:Ngroup\n[^\n]*\n)?(?:Nrepeat\n[^\n]*\n)?(?:Nprogress\n[^\n]*\n)?(?:Nretry\n[^\n]*\n)?(?:Nexpires\n[^\n]*\n)?(?:Nencrypted\n[^\n]*\n)?[KCkc]([A-Za-z0-9_.:-]{1,64})\n/;

/** Matches the lines before an encrypted payload: those around it, the name of its key, and its type. */
const ENCRYPTED_LINES =
  /^((?:W\d+\n)*(?:N(?!encrypted\n)[a-z]+\n[^\n]*\n)*)Nencrypted\n([A-Za-z0-9_.:-]{1,64})\n(?:B|C([A-Za-z0-9_.:-]{1,64})\n)/;

/** More characters than {@link FIRST_LINES} and {@link ENCRYPTED_LINES} can match. */
const MAX_FIRST_LINES = 1500;

const PLAIN_JSON = 'J'.charCodeAt(0);
const NAMED_FORM = 'N'.charCodeAt(0);

const LINE_FEED = '\n';

/**
 * Encodes bodies that can be read in redis-cli: a letter for the kind, the type and the headers if there are any, and the payload.
 *
 * | kind | body |
 * |---|---|
 * | `J` | `J` payload as JSON |
 * | `B` | `B` payload as raw bytes |
 * | `j`, `b` | the same with headers: kind, headers as JSON, line feed, payload |
 * | `K`, `C` | the same with a type: kind, type, line feed, payload |
 * | `k`, `c` | the same with both: kind, type, line feed, headers as JSON, line feed, payload |
 * | `W`, `Ngroup`, `Nrepeat`, `Nprogress`, `Nretry`, `Nexpires` | a message that was put off, has a group, repeats, has its own attempts
 * or backoff, or expires: see `body-forms.ts` |
 * | `Nencrypted` | a message that is encrypted |
 *
 * Neither a type nor JSON contains a raw line feed, so the first one ends it. A `Uint8Array` is stored as bytes and comes back as a
 * `Buffer`. For everything else, `JSON.stringify` rules: a `Date` comes back as text, and undefined properties do not come back.
 *
 * A later version starts any other form with `N`, the form's name and a line feed; a version that cannot read it puts the message off.
 */
export const nativeCodec: MessageCodec = {
  encode(content: MessageContent): MessageBody {
    const { type, payload, headers, group, repeat, retries, expiry } = content;
    const before = group !== undefined || repeat || retries || expiry ? linesBefore(content) : '';
    if (isInstance(payload, EncryptedPayload)) return wrap(before, encodeEncrypted(type, payload, headers));
    const headed = Object.keys(headers).length > 0;
    const bytes = types.isUint8Array(payload);
    const typed = type !== NO_TYPE;
    const kind = KINDS[(headed ? HEADED : 0) | (typed ? TYPED : 0) | (bytes ? BYTES : 0)]!;
    const lines = before + kind + (typed ? type + LINE_FEED : '') + (headed ? JSON.stringify(headers) + LINE_FEED : '');
    if (bytes) return Buffer.concat([Buffer.from(lines), payload]);
    return lines + writeJsonData(payload, JSON.stringify);
  },

  /** Counts the lines before the body, the key's name, the kind and the type, and the line feeds after the type and the headers. */
  framingBytes: (content) => {
    const { type, payload, headers } = content;
    return (
      Buffer.byteLength(linesBefore(content)) +
      (isInstance(payload, EncryptedPayload) ? encryptedLines(payload.key).length : 0) +
      1 +
      (Object.keys(headers).length > 0 ? 1 : 0) +
      (type === NO_TYPE ? 0 : type.length + 1)
    );
  },

  decode: (body) => decodeWrapped(body, MAX_FORMS),

  show: (body) => decodeEncrypted(body),
};

/** Far more than there are. A message that older versions put off may have several of the first. */
const MAX_FORMS = 100;

/** @param left - how many more forms may wrap the body. Without a limit, a hostile body would overflow the stack. */
function decodeWrapped(body: Buffer, left: number): MessageContent {
  // By far the most common form.
  if (body[0] === PLAIN_JSON) return { type: NO_TYPE, headers: {}, payload: fromJson(body, 1) };
  if (left === 0) throw unreadable(body, 'too many forms wrap it');
  if (isPutOff(body)) return decodePutOff(body, left);
  if (body[0] === NAMED_FORM) {
    const form = NAMED_FORMS.find(({ isOf }) => isOf(body));
    if (form) return decodeForm(form, body, left);
    const inside = withoutProgress(body);
    if (inside !== body) return decodeWrapped(inside, left - 1);
  }
  const kind = body.toString('latin1', 0, 1);
  const form = FORMS.get(kind);
  if (form === undefined) throw unknownKind(body, kind);
  let at = 1;
  let type = NO_TYPE;
  let headers: MessageHeaders = {};
  if (form & TYPED) {
    const end = endOfLine(body, at, 'type');
    type = body.toString('latin1', at, end);
    if (!isMessageType(type)) throw unreadable(body, 'its type has characters that no type has, or too many');
    at = end + 1;
  }
  if (form & HEADED) {
    const end = endOfLine(body, at, 'headers');
    headers = headersFrom(body, at, end);
    at = end + 1;
  }
  return { type, headers, payload: form & BYTES ? Buffer.from(body.subarray(at)) : fromJson(body, at) };
}

const NULL = Buffer.from('Jnull');

function encodeEncrypted(type: string, { key, bytes }: EncryptedPayload, headers: MessageHeaders): MessageBody {
  if (Object.keys(headers).length > 0) {
    throw new DelayQueueError('INVALID_ARGUMENT', 'headers: an EncryptedPayload has its own; leave them out');
  }
  return wrap(encryptedLines(key), nativeCodec.encode({ type, payload: bytes, headers }));
}

/** Decodes an encrypted body except for its payload and headers; undefined if the body is not encrypted. */
export function decodeEncrypted(body: Buffer): (MessageContent & { payload: EncryptedPayload }) | undefined {
  const lines = ENCRYPTED_LINES.exec(body.toString('latin1', 0, MAX_FIRST_LINES));
  if (!lines) return undefined;
  const [all, around, key, type = NO_TYPE] = lines;
  const content = nativeCodec.decode(Buffer.concat([body.subarray(0, around!.length), NULL]));
  return { ...content, type, payload: new EncryptedPayload(key!, Buffer.from(body.subarray(all.length))) };
}

/** Reads only the type from a native body; a damaged body, or one in a later version's form, has none. `count-types.lua` does the same. */
export function bodyType(body: Buffer): string {
  return FIRST_LINES.exec(body.toString('latin1', 0, MAX_FIRST_LINES))?.[1] ?? NO_TYPE;
}

function decodePutOff(body: Buffer, left: number): MessageContent {
  const { since, body: inside } = unwrapPutOff(body);
  if (since === null) throw unreadable(body, 'it does not say when it was put off');
  return decodeWrapped(inside, left - 1);
}

function decodeForm({ unwrap, damage }: (typeof NAMED_FORMS)[number], body: Buffer, left: number): MessageContent {
  const unwrapped = unwrap(body);
  if (!unwrapped) throw unreadable(body, damage);
  const { body: inside, ...own } = unwrapped;
  return { ...decodeWrapped(inside, left - 1), ...own };
}

function headersFrom(body: Buffer, start: number, end: number): MessageHeaders {
  const headers = fromJson(body, start, end);
  if (!isHeaders(headers)) throw unreadable(body, 'its headers are not an object of text values');
  return headers;
}

function isHeaders(value: unknown): value is MessageHeaders {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((each) => typeof each === 'string');
}

function fromJson(body: Buffer, start: number, end?: number): unknown {
  try {
    return JSON.parse(body.toString('utf8', start, end)) as unknown;
  } catch {
    // The parser's own error quotes its input, and payloads must not get into logs.
    throw unreadable(body, 'its JSON is malformed');
  }
}

function endOfLine(body: Buffer, start: number, what: string): number {
  const end = body.indexOf(LINE_FEED, start);
  if (end < 0) throw unreadable(body, `its ${what} does not end`);
  return end;
}

function unknownKind(body: Buffer, kind: string): DelayQueueError {
  const newer = NEWER_FORM.exec(body.toString('latin1', 0, 80));
  if (newer) return unreadHere(body, newer[1]!);
  return unreadable(body, body.length === 0 ? 'it is empty' : `${JSON.stringify(kind)} is not a kind of body`);
}

function unreadHere(body: Buffer, form: string): UnknownBodyForm {
  const key = ENCRYPTED_LINES.exec(body.toString('latin1', 0, MAX_FIRST_LINES))?.[2];
  return key === undefined ? new UnknownBodyForm(form) : missingKey(key);
}

/** The error for a body that is encrypted with a key that this process does not have. */
export function missingKey(key: string): UnknownBodyForm {
  const problem = `it is encrypted with key '${key}', which this process does not have (option encryption)`;
  return new UnknownBodyForm(`encrypted:${key}`, problem);
}

export function unreadable(body: Buffer, reason: string): DelayQueueError {
  return new DelayQueueError(
    'INVALID_PAYLOAD',
    `body: its ${body.length} bytes were not written by this codec: ${reason}; ` +
      'use each queue name with one layout and one codec only',
  );
}
