import type { Announcer, DueListener, TransferReport } from '../consumer-store.js';

/**
 * Announcements on a queue's channel, as strings written by scripts. A server's databases share channels, so due times and transfers end with
 * the database's number, and those of other databases are ignored. Announcements without a number come from an older version, in any
 * database. Each only hints that something may fall due, and costs at most one look. An abort names a claim's token, which is unique.
 */

export interface Announcing {
  readonly channel: string;
  /** The scripts' argument `database`. */
  readonly database: string;
}

const NEVER = -1;

/** Returns the argument `announcer` for scripts that transfer. */
export function announcerArgument(announcer: Announcer | undefined, { database, channel }: Announcing): string {
  if (!announcer) return '';
  const movedAt = announcer.movedAt === null ? NEVER : Math.round(announcer.movedAt * 1000);
  return `${database} ${announcer.scheduler} ${movedAt} ${channel}`;
}

type Listener = Omit<DueListener, 'onListening'>;

/** Passes on an announcement, and ignores kinds unknown to this version. @param database - the listener's own, as announcements name it */
export function readAnnouncement(text: string, database: string, listener: Listener): void {
  const words = text.split(' ');
  if (words[0] === 'transfer') readTransfer(words, database, listener);
  else if (words[0] === 'abort') readAbort(words, listener);
  else readDue(words, database, listener);
}

function readDue([dueAt, dueIn, of]: readonly string[], database: string, listener: Listener): void {
  const due = { dueAt: Number(dueAt), dueIn: Number(dueIn) };
  if (isForeign(of, database) || !Object.values(due).every(Number.isFinite)) return;
  listener.onEarlierDue(due);
}

function readTransfer([, scheduler, ...words]: readonly string[], database: string, listener: Listener): void {
  const [movedAt, ready, now, nextAt] = words.map(Number);
  const of = words[4];
  const isReadable = scheduler !== undefined && [movedAt, ready, now, nextAt].every(Number.isFinite);
  if (!isReadable || isForeign(of, database) || !listener.onTransfer) return;
  const at = now! / 1000;
  const next = nextWork(nextAt!, at);
  if (of !== undefined) {
    listener.onTransfer({ scheduler, at, movedAt: movedAt === NEVER ? null : movedAt! / 1000, ready: ready!, ...next });
  } else if (nextAt !== NEVER) {
    listener.onEarlierDue({ dueAt: nextAt!, dueIn: Math.max(0, nextAt! - at) });
  }
}

/** Passes on an abort. The words after the token are the id, which may contain spaces. */
function readAbort([, token, ...words]: readonly string[], listener: Listener): void {
  if (token !== undefined && words.length > 0) listener.onAbort?.({ token, id: words.join(' ') });
}

function isForeign(of: string | undefined, database: string): boolean {
  return of !== undefined && of !== database;
}

/** Converts a script's reply about when there will next be work. */
export function nextWork(nextAt: number, now: number): Pick<TransferReport, 'nextAt' | 'nextIn'> {
  return nextAt === NEVER ? { nextAt: null, nextIn: null } : { nextAt, nextIn: Math.max(0, nextAt - now) };
}
