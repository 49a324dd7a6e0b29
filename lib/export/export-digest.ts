import { createHash } from 'node:crypto';
import type { ExportLine, HandledLine, MessageLine } from './export-line.js';

const END = 2n ** 256n;

/**
 * A digest of what an export contains: equal digests mean equal messages, settings of groups, limits, declarations, histories and kept
 * ids, in any order. It is the sum of the lines' SHA-256. It leaves out what a move may change: the place, states, pauses, what orders equal
 * due times, and until when entries and ids are kept.
 */
export class ExportDigest {
  #sum = 0n;

  add(line: ExportLine): void {
    const content = contentOf(line);
    if (content === undefined) return;
    const hash = createHash('sha256').update(JSON.stringify(content)).digest('hex');
    this.#sum = (this.#sum + BigInt(`0x${hash}`)) % END;
  }

  toString(): string {
    return this.#sum.toString(16).padStart(64, '0');
  }
}

/** Returns what counts of a line, in a fixed order; undefined: nothing. */
function contentOf(line: ExportLine): object | undefined {
  if (line.kind === 'message') return contentOfMessage(line);
  if (line.kind === 'group') return [line.kind, line.group, line.paused, line.concurrency];
  if (line.kind === 'handled') return contentOfHandled(line);
  if (line.kind === 'kept') return [line.kind, line.id, line.at, line.grouped];
  if (line.kind === 'declared') return [line.kind, line.id];
  if (line.kind !== 'settings' || !line.limits) return undefined;
  const { globalConcurrency, rate } = line.limits;
  // As an object, because in an array a limit that the options decide (undefined) would look like none (null).
  return { globalConcurrency, rate: rate && [rate.max, rate.per] };
}

function contentOfMessage({ kind, id, due, offered, failed = 0, died, follower, body, base64 }: MessageLine) {
  const next = follower && [follower.after, follower.at, follower.body, follower.base64];
  return [kind, id, due, offered, failed, died && [died.at, died.error], next, body, base64];
}

function contentOfHandled(line: HandledLine) {
  const { kind, id, at, due, offered, lateness, took, attempt, type, group, worker, body, base64 } = line;
  const by = [worker.id, worker.host, worker.pid];
  return [kind, id, at, due, offered, lateness, took, attempt, type, group, by, body, base64];
}
