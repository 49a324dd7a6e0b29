import type { DueListener, Teller, TransferReport } from '../message-flow.js';

/** What is announced on the channel of a queue, as text. The scripts write it. */

/** Where a script announces, and with which command. */
export interface Announcing {
  readonly channel: string;
  readonly publish: 'PUBLISH' | 'SPUBLISH';
}

/** In place of an instant. */
const NEVER = -1;

/** The argument `teller` of scripts that transfer. */
export function tellerArgument(teller: Teller | undefined, { publish, channel }: Announcing): string {
  if (!teller) return '';
  const movedAt = teller.movedAt === null ? NEVER : Math.round(teller.movedAt * 1000);
  return `${publish} ${teller.scheduler} ${movedAt} ${channel}`;
}

/** Passes an announcement on. What this version does not know is for others. */
export function readAnnouncement(text: string, listener: Omit<DueListener, 'onListening'>): void {
  const words = text.split(' ');
  if (words[0] === 'transfer') readTransfer(words, listener);
  else if (words[0] === 'abort') readAbort(words, listener);
  else readDue(words, listener);
}

function readDue(words: readonly string[], listener: Omit<DueListener, 'onListening'>): void {
  const [dueAt, dueIn] = words.map(Number);
  if (Number.isFinite(dueAt) && Number.isFinite(dueIn)) listener.onEarlierDue({ dueAt: dueAt!, dueIn: dueIn! });
}

function readTransfer([, scheduler, ...words]: readonly string[], listener: Omit<DueListener, 'onListening'>): void {
  const [movedAt, ready, now, nextAt] = words.map(Number);
  if (scheduler === undefined || ![movedAt, ready, now, nextAt].every(Number.isFinite)) return;
  const at = now! / 1000;
  listener.onTransfer?.({
    scheduler,
    at,
    movedAt: movedAt === NEVER ? null : movedAt! / 1000,
    ready: ready!,
    ...nextWork(nextAt!, at),
  });
}

/** An id may have spaces. */
function readAbort([, token, ...words]: readonly string[], listener: Omit<DueListener, 'onListening'>): void {
  if (token !== undefined && words.length > 0) listener.onAbort?.({ token, id: words.join(' ') });
}

/** When there is work again, as scripts tell it. */
export function nextWork(nextAt: number, now: number): Pick<TransferReport, 'nextAt' | 'nextIn'> {
  return nextAt === NEVER ? { nextAt: null, nextIn: null } : { nextAt, nextIn: Math.max(0, nextAt - now) };
}
