import { createHash } from 'node:crypto';
import type { MessageBody } from '../../message/codec/message-codec.js';
import type { ScriptArgument, ScriptArguments, ScriptCall } from '../../redis/script/script-call.js';
import {
  type Announcer,
  type ClaimRequest,
  type Handling,
  LEASE_EXPIRED,
  type NextOccurrence,
  type Outcome,
  type Settlement,
  type TransferRequest,
} from '../consumer-store.js';
import type { Follower, MessagePast, ScannedEntry } from '../message-past.js';
import type { Change, DueTime, Offer, OfferReceipt } from '../producer-store.js';
import type { GroupRules, HistoryRules, Rate, StoreLimits } from '../message-store.js';
import type { DeadSelection, PageRequest } from '../admin-store.js';
import { parseCursor } from '../page-cursor.js';
import { NEVER, recordStart } from './script-replies.js';
import { hasCode } from '../../message/failure.js';
import type { RedisCommands } from '../../redis/commands/redis-commands.js';
import { notConnected } from '../../redis/redis-errors.js';

export function offerArguments(offers: readonly Offer[]): ScriptArgument[] {
  const args: ScriptArgument[] = [];
  for (const offer of offers) args.push(offer.id, offerDueArgument(offer), offer.body);
  return args;
}

/** Returns the argument that contains an offer's due time, and what to do if its id is in use. */
export function offerDueArgument({ due, onDuplicate, maxWait }: Offer): string {
  if (onDuplicate === 'keep') return dueArgument(due);
  const otherwise = maxWait === undefined ? onDuplicate : `${onDuplicate} ${maxWait}`;
  return `${dueArgument(due)} ${otherwise}`;
}

/** Returns the arguments of `lua/restore.lua` for offers with a `past`. */
export function restoreArguments(offers: readonly Offer[]): ScriptArgument[] {
  return offers.flatMap((offer) => {
    const { follower } = offer.past!;
    return [
      offer.id,
      offerDueArgument(offer),
      offer.body,
      pastArgument(offer.past!),
      follower ? followerArgument(follower) : '',
    ];
  });
}

/** Returns the place of a kept id at which a page of them ended. @param cursor - the time and the id; empty: none */
export function idPlace(cursor: string): { at: string; name: string } {
  const colon = cursor.indexOf(':');
  return { at: cursor.slice(0, Math.max(0, colon)), name: cursor.slice(colon + 1) };
}

/** Returns the record of a handled message; empty if it was not kept. */
export function restoredRecord({ entry, body }: ScannedEntry): Buffer {
  return body.length === 0 ? body : Buffer.concat([recordStart(entry), body]);
}

function pastArgument({ offeredAt, failedAttempts, rank, isHeld, death }: MessagePast): string {
  return `${offeredAt} ${failedAttempts} ${rank ?? '-'} ${isHeld ? 1 : 0} ${death ? `${death.at} ${death.error}` : 0}`;
}

function followerArgument({ due, body }: Follower): Buffer {
  return Buffer.concat([Buffer.from(`${dueArgument(due)}\n`), body]);
}

/** Returns the arguments of a change. They contain a digest of the body that was read, because the body itself may be long. */
export function changeArguments(id: string, { due, from, to }: Change) {
  return { id, due: dueArgument(due), bodyRead: digestOf(from), body: to };
}

/** Returns the digest by which scripts recognize a body that their caller has read. */
export const digestOf = (body: Buffer): string => createHash('sha1').update(body).digest('hex');

export function dueArgument(due: DueTime): string {
  return 'after' in due ? `+${due.after}` : `@${due.at}`;
}

/** @param others - the key `claims` of the queue's other messages; undefined: there are none */
export function claimCall(request: ClaimRequest, limits: StoreLimits, others?: string): Omit<ScriptCall, 'keys'> {
  const { token, supersedes, limit, maxBytes = 0, lease } = request;
  const args = { token, supersedes: supersedes ?? '', limit, maxBytes, lease, rate: rateArgument(limits.rate) };
  return { args, rest: activeArgument(limits, others) };
}

const NO_ARGUMENTS: readonly ScriptArgument[] = [];

/** Returns the argument that limits the number of active messages, if there is a limit. `others`: as in {@link claimCall}. */
export function activeArgument({ globalConcurrency }: StoreLimits, others?: string): readonly ScriptArgument[] {
  if (!globalConcurrency) return NO_ARGUMENTS;
  return [others === undefined ? globalConcurrency : `${globalConcurrency} ${others}`];
}

/** Returns the argument `groups`, which `lua/modules/groups.lua` describes as `rules`. */
export function groupRulesArgument({ concurrency, onRetry }: GroupRules): string {
  return `${concurrency ?? 0} ${onRetry}`;
}

export function rateArgument(rate: Rate | null | undefined): string {
  return rate ? `${rate.max} ${rate.per}` : '';
}

/** Number of messages that one call of `repair` examines. It reads their records, which are as large as their payloads. */
export const REPAIR_PART = 100;

/** Number of messages that one call of `scan` reads, unless their records are long. */
export const SCAN_PART = 250;

/** Returns the arguments that name the messages' groups. They precede the arguments about outcomes. */
export function groupArguments(settlements: readonly Settlement[]): ScriptArgument[] {
  return settlements.map(({ claim }) => claim.group ?? '');
}

/**
 * Returns the arguments that describe settlements. Merges consecutive ones with the same claim and the same outcome.
 * @param isBrief - true for a settlement that needs no description but its number: its message is gone
 */
export function settlementArguments(
  settlements: readonly Settlement[],
  isBrief: (settlement: Settlement) => boolean,
): ScriptArgument[] {
  const args: ScriptArgument[] = [];
  for (let first = 0; first < settlements.length;) {
    const settlement = settlements[first]!;
    const { claim, outcome } = settlement;
    let count = 1;
    while (first + count < settlements.length && isAlike(settlements[first + count]!, settlement, isBrief)) count++;
    args.push(claim.token, isBrief(settlement) ? count : withDetail(`${count} ${kindOf(outcome)}`, outcome));
    for (const end = first + count; first < end; first++) args.push(settlements[first]!.claim.id);
  }
  return args;
}

const isAlike = (one: Settlement, other: Settlement, isBrief: (settlement: Settlement) => boolean) =>
  one.claim.token === other.claim.token && (one.outcome === other.outcome || (isBrief(one) && isBrief(other)));

/** True for an outcome without details, after which the message is gone. It may have expired. */
export const isHandled = ({ outcome }: Settlement) => outcome.kind === 'ack' && outcome.next === undefined;

function kindOf(outcome: Outcome): string {
  if (outcome.kind === 'ack') return outcome.next ? 'next' : 'ack';
  if (outcome.kind !== 'dead') return outcome.kind;
  if (outcome.next) return 'deadnext';
  return outcome.by === 'lease' ? 'spent' : 'dead';
}

function withDetail(kind: string, outcome: Outcome): ScriptArgument {
  if (outcome.kind === 'dead' && outcome.next) {
    const { failedAttempts, letter } = outcome.next;
    return `${kind} ${nextArgument(outcome.next)} ${failedAttempts} ${outcome.error}\n${letter}`;
  }
  const what = `${kind} ${whatOf(outcome)}`;
  return 'body' in outcome && outcome.body !== undefined ? withBody(what, outcome.body) : what;
}

function whatOf(outcome: Outcome): string | number {
  if (outcome.kind === 'dead') return outcome.error;
  if (outcome.kind === 'ack') return outcome.next ? nextArgument(outcome.next) : 'expired';
  if ('delay' in outcome) return outcome.delay;
  return 'at' in outcome ? `@${outcome.at}` : '';
}

function nextArgument({ at, count }: NextOccurrence): string {
  return `${at === null ? '-' : `@${at}`}${count === undefined ? '' : `:${count}`}`;
}

/** Appends a body to the details of an outcome. The details contain no line feed: they are a due time or an error, which is JSON. */
function withBody(what: string, body: MessageBody): ScriptArgument {
  return typeof body === 'string' ? `${what}\n${body}` : Buffer.concat([Buffer.from(`${what}\n`), body]);
}

/** Returns the arguments that describe handled messages to `remember`. */
export function handlingArguments(handlings: readonly Handling[], { payloads }: HistoryRules): ScriptArgument[] {
  return handlings.flatMap(({ id, keptAs, entry }) => {
    const ofRecord = payloads ? [id, recordStart(entry)] : ['', ''];
    return [keptAs, ...ofRecord, JSON.stringify(entry)];
  });
}

/** @throws DelayQueueError `INVALID_ARGUMENT` for a malformed cursor */
export function pageArguments({ state, from = { offset: 0 }, limit }: PageRequest) {
  const place = 'cursor' in from ? parseCursor(state, from.cursor) : { at: '', name: '' };
  return { ...place, offset: 'offset' in from ? from.offset : 0, limit };
}

export function transferArguments({ announcer, limit }: TransferRequest, limits: StoreLimits, announcing: Announcing) {
  const { attempts, maxDeadLetters, rate } = limits;
  return {
    announcer: announcerArgument(announcer, announcing),
    limit,
    maxAttempts: attempts,
    maxDead: maxDeadLetters,
    leaseError: JSON.stringify(LEASE_EXPIRED),
    rate: rateArgument(rate),
  };
}

/** Maximum number of messages that `transferAndClaim` takes. It reads all their records, each of which may be as large as a payload. */
const MAX_TAKEN = 64;
const MAX_TAKEN_BYTES = 1024 * 1024;

export function claimedTransferCall(claim: ClaimRequest, announcer: Announcer | undefined, announcing: Announcing) {
  const { token, lease, maxBytes = MAX_TAKEN_BYTES } = claim;
  const limit = `${Math.min(claim.limit, MAX_TAKEN)} ${maxBytes}`;
  return { args: { token, limit, lease }, rest: announcer ? [announcerArgument(announcer, announcing)] : [] };
}

export function selectionArguments(selection: DeadSelection): ScriptArguments {
  return 'id' in selection ? { by: 'id', value: selection.id } : { by: 'oldest', value: selection.oldest };
}

/** The lowest `proto-max-bulk-len` that Redis can be configured with, bytes. */
const LOWEST_LIMIT = 1024 * 1024;

/** Maximum number of UTF-8 bytes per UTF-16 unit of a string. */
const MAX_BYTES = 3;

const OVERSIZED: OfferReceipt = { outcome: 'oversized', dueAt: 0 };

/** True if some Redis servers may not accept the body. With the default `maxPayloadBytes`, all servers accept every body. */
export function mayBeOversized({ body }: Offer): boolean {
  return body.length * MAX_BYTES > LOWEST_LIMIT && Buffer.byteLength(body) > LOWEST_LIMIT;
}

/**
 * Offers the messages that Redis accepts. Redis closes the connection when an argument longer than `proto-max-bulk-len` begins. All other
 * calls on the connection are lost, mostly without an error. So Redis is asked before a long argument is sent.
 * @param key - a key on the queue's server that holds a string or does not exist
 * @param offer - offers the accepted messages
 */
export async function offerAccepted(
  commands: RedisCommands,
  key: string,
  offers: readonly Offer[],
  offer: (accepted: readonly Offer[]) => Promise<OfferReceipt[]>,
): Promise<OfferReceipt[]> {
  const isAccepted = await Promise.all(
    offers.map(async ({ body }) => (await acceptsArgument(commands, key, Buffer.byteLength(body))) ?? true),
  );
  const receipts = (await offer(offers.filter((_, i) => isAccepted[i]))).values();
  return isAccepted.map((accepted) => (accepted ? receipts.next().value! : OVERSIZED));
}

/** Resolves to true if Redis accepts an argument of this length. Returns undefined, without asking, if every Redis server does. */
export function acceptsArgument(commands: RedisCommands, key: string, bytes: number): Promise<boolean> | undefined {
  return bytes > LOWEST_LIMIT ? accepts(commands, key, bytes) : undefined;
}

/** Asks with GETBIT, whose offsets have the same limit, because hosted services forbid CONFIG. Assumes yes if GETBIT is forbidden, too. */
async function accepts(commands: RedisCommands, key: string, bytes: number): Promise<boolean> {
  try {
    await commands.send('GETBIT', key, (bytes - 1) * 8);
    return true;
  } catch (error) {
    if (hasCode(error, 'STORE_REFUSED')) return !(error.cause as Error).message.includes('bit offset');
    // Only the outcome of the GETBIT is unknown; the offer has not been sent, so the caller may safely try again.
    throw hasCode(error, 'OUTCOME_UNKNOWN') ? notConnected('offer', 0, error.cause) : error;
  }
}

export interface Announcing {
  readonly channel: string;
  /** The scripts' argument `database`. */
  readonly database: string;
}

/** Returns the argument `announcer` for scripts that transfer. */
export function announcerArgument(announcer: Announcer | undefined, { database, channel }: Announcing): string {
  if (!announcer) return '';
  const movedAt = announcer.movedAt === null ? NEVER : Math.round(announcer.movedAt * 1000);
  return `${database} ${announcer.scheduler} ${movedAt} ${channel}`;
}
