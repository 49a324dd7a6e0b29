import { isDeepStrictEqual } from 'node:util';
import type { MessageHeaders } from '../../../lib/index.js';
import { Random } from '../random.js';
import { planMessage, type Workload } from './message-plan.js';

/** The content of a message: its number, its version, and filling derived from both. */
export interface Content {
  readonly payload: unknown;
  readonly headers: MessageHeaders;
}

/** A message as a handler received it. */
export type ReceivedContent = Content & { readonly id: string; readonly group?: string | undefined };

/** The content that was read from a received message. */
export type Reading =
  | { readonly n: number; readonly version: number; readonly intact: boolean }
  /** Not even the number can be read. */
  | 'unreadable';

/** Spaces the numbers of messages so that no two processes use the same one. */
const MAX_PROCESSES = 1024;

/** The number of the message that a process offers as its `place`th, counted from 1. */
export const numberIn = (process: number, place: number): number => place * MAX_PROCESSES + process;

/** Which process offers a message. */
export const producerOf = (n: number): number => n % MAX_PROCESSES;

/** The id that a producer chooses for a message. */
export const idOf = (n: number): string => `m${n}`;

/** @returns the number of the message, or null if the library generated the id */
export function numberOf(id: string): number | null {
  return /^m\d+$/.test(id) && id.length < 16 ? Number(id.slice(1)) : null;
}

/** @param version - 0, and more for each replacement */
export function contentOf(workload: Workload, n: number, version = 0): Content {
  const { queue, size, behaviour } = planMessage(workload, n);
  // A message that comes again keeps its headers.
  const offered = behaviour === 'again-once' ? 0 : version;
  // Redisson's layout has no place for headers.
  const headers: MessageHeaders = workload.layout === 'native' ? { n: String(n), version: String(offered) } : {};
  const filling = fillingOf(new Random(workload.seed, n, version), size);
  const text = filling.toString('latin1');
  if (queue === 'orders' || queue === 'payments') return { payload: { n, version, text }, headers };
  if (queue === 'mails') return { payload: `${n} ${version} ${text}`, headers };
  const bytes = Buffer.alloc(5 + filling.length);
  bytes.writeUInt32BE(n, 0);
  bytes.writeUInt8(version, 4);
  filling.copy(bytes, 5);
  return { payload: bytes, headers };
}

/** Compares what arrived with what was offered. The codec `json` orders the fields of an object as Java does. */
export function readContent(workload: Workload, received: ReceivedContent): Reading {
  const { n, version } = numbersIn(received.payload);
  if (!Number.isSafeInteger(n) || !Number.isSafeInteger(version) || version < 0) return 'unreadable';
  const expected = contentOf(workload, n, version);
  const intact =
    isDeepStrictEqual(received.payload, expected.payload) &&
    // A message's headers have no prototype.
    isDeepStrictEqual({ ...received.headers }, expected.headers) &&
    (received.group ?? null) === planMessage(workload, n).group &&
    (!received.id.startsWith('m') || received.id.length === 16 || received.id === idOf(n));
  return { n, version, intact };
}

/** The number and version in a payload, or NaN. */
export function numbersIn(payload: unknown): { n: number; version: number } {
  if (Buffer.isBuffer(payload)) {
    return payload.length < 5
      ? { n: NaN, version: NaN }
      : { n: payload.readUInt32BE(0), version: payload.readUInt8(4) };
  }
  if (typeof payload === 'string') {
    const [n = NaN, version = NaN] = payload.split(' ', 2).map(Number);
    return { n, version };
  }
  const { n, version } = (payload ?? {}) as { n?: unknown; version?: unknown };
  return { n: typeof n === 'number' ? n : NaN, version: typeof version === 'number' ? version : NaN };
}

function fillingOf(random: Random, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < size; at++) bytes[at] = random.int(0, 255);
  return bytes;
}
