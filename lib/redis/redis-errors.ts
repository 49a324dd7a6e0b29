import { types } from 'node:util';
import { DelayQueueError, type DelayQueueErrorCode } from '../message/delay-queue-errors.js';

/** Advice by the first word of an error reply. */
const ADVICE: Readonly<Record<string, string>> = {
  OOM: 'Redis is out of memory: raise maxmemory or remove data',
  WRONGTYPE: 'a key of the queue is used for something else: choose another prefix, or remove that key',
  READONLY: 'this is a replica: connect to the primary',
  LOADING: 'Redis is still loading its data: try again later',
  MISCONF: 'Redis cannot save its data to disk: check its log, and repair the disk or free space on it',
  NOPERM: 'the Redis user lacks a permission for a command, a key or a channel: extend its ACL',
  LATE: "the call took longer than offerTimeout to reach Redis, or Redis' clock was changed: try again",
  BUSY: 'another function or script blocks Redis: end it with FUNCTION KILL or SCRIPT KILL',
  REPARTITIONED: 'the key `partitions` does not hold the partitioning of the queue: was it changed by somebody else?',
  NOREPLICAS: 'fewer replicas are in sync than min-replicas-to-write: check the replication',
  TRYAGAIN: 'the cluster is moving the queue to another server: try again later',
  CLUSTERDOWN: 'the cluster does not serve this hash slot: check CLUSTER INFO',
  MASTERDOWN: 'the primary is down: wait for the failover',
};

const UNKNOWN_COMMAND =
  'Redis, or a proxy in front of it, does not know this command: connect to a server that does, see docs/managed-redis.md';

/** Errors with which a server, a sentinel or a proxy refuses every login attempt, each with advice. */
const LOGIN_ADVICE: readonly (readonly [RegExp, string])[] = [
  [/sentinel.*\b(NOAUTH|WRONGPASS|NOPERM)\b/, 'see `sentinelUsername` and `sentinelPassword` in `connection`'],
  [/\bNOAUTH\b/, 'Redis requires a password: set it in `connection`'],
  [
    /\bWRONGPASS\b|invalid password/,
    'the user name or the password in `connection` is wrong; in a URL, percent-encode their special characters',
  ],
  [/\bNOPERM\b/, 'the Redis user lacks a permission: extend its ACL'],
  [/DB index|SELECT is not allowed/, 'choose another `db` in `connection`, or raise `databases` on the server'],
  [/cluster support disabled/, 'this server is not a cluster: use its URL, or its options, as `connection`'],
  [
    /unknown command/i,
    'Redis, or a proxy in front of it, does not know the login command: use Redis 7.0 or newer, or Valkey',
  ],
];

/** Matches the arguments that a server quotes when it does not know the command. Those of a login contain passwords. */
const REPEATED_ARGUMENTS = /,? with args beginning with[^]*/;

export const isErrorReply = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError';

/** Removes from an error what must not be logged: an unreadable URL, and the command, whose arguments include payloads and passwords. */
export function withoutSecrets(error: unknown): unknown {
  if (!types.isNativeError(error)) return error;
  delete (error as { command?: unknown }).command;
  delete (error as { input?: unknown }).input;
  removeText(error, REPEATED_ARGUMENTS);
  return error;
}

/** Removes the name of a host that could not be resolved. */
export function withoutHost(error: unknown): void {
  const { hostname } = (error ?? {}) as { hostname?: unknown };
  if (!types.isNativeError(error) || typeof hostname !== 'string') return;
  delete (error as { hostname?: unknown }).hostname;
  removeText(error, ` ${hostname}`);
}

function removeText(error: Error, text: string | RegExp): void {
  const { message, stack } = error;
  const bare = message.replace(text, '');
  if (bare !== message) Object.assign(error, { message: bare, stack: stack?.replace(message, () => bare) });
}

/** Returns the error without secrets. If it combines errors of several nodes or addresses, returns one of those. */
export function reasonOf(error: unknown): unknown {
  const { lastNodeError, errors } = (error ?? {}) as { lastNodeError?: unknown; errors?: readonly unknown[] };
  return withoutSecrets(lastNodeError ?? errors?.[0] ?? error);
}

/** True if an error refuses the login, so that later attempts would fail, too. */
export function isLoginRefusal(reason: unknown): boolean {
  return adviceOnLogin(reason) !== undefined;
}

function adviceOnLogin(reason: unknown): string | undefined {
  return types.isNativeError(reason) ? LOGIN_ADVICE.find(([said]) => said.test(reason.message))?.[1] : undefined;
}

/** True for ioredis' error about a command that was neither sent nor queued. */
export function wasNotSent(error: unknown): boolean {
  return error instanceof Error && error.message.includes('enableOfflineQueue options is false');
}

/** ioredis' message about a surplus answer. */
const LEFT_OVER = /^Command queue state error.*Last (reply: (s(un)?subscribe|pong)|error: MOVED)/is;

/**
 * True if ioredis has counted one answer too many because it mistook the notice of an ended subscription for the answer to a command.
 * Version 5 always does so; version 6 does while it is unsubscribing.
 */
export function isMiscount(error: unknown): boolean {
  return error instanceof Error && LEFT_OVER.test(error.message);
}

/** Returns the server's time, ms, from its refusal of a call after the deadline; undefined for any other error. */
export function serverTimeOfLateCall(error: unknown): number | undefined {
  const time = isErrorReply(error) ? /^LATE (\d+)/.exec(error.message)?.[1] : undefined;
  return time === undefined ? undefined : Number(time);
}

/** A cluster server's error reply: the server has done nothing, because it does not have the key, or does not have it yet. */
export interface Redirection {
  readonly word: 'MOVED' | 'ASK' | 'TRYAGAIN' | 'CLUSTERDOWN';
  /** The hash slot, and the address of the server that has it. Only with MOVED and ASK. */
  readonly hashSlot?: number;
  readonly address?: string;
}

export function redirectionOf(error: unknown): Redirection | undefined {
  if (!isErrorReply(error)) return undefined;
  const [, moved, hashSlot, address] = /^(MOVED|ASK) (\d{1,5}) (\S+:\d+)$/.exec(error.message) ?? [];
  if (moved !== undefined) return { word: moved as 'MOVED' | 'ASK', hashSlot: Number(hashSlot), address };
  const [word] = /^(TRYAGAIN|CLUSTERDOWN)\b/.exec(error.message) ?? [];
  return word === undefined ? undefined : { word: word as 'TRYAGAIN' | 'CLUSTERDOWN' };
}

/** True if Redis refused a command, or one inside a script, because of its user's ACL. */
export function lacksPermission(cause: unknown): cause is Error {
  return isErrorReply(cause) && /^NOPERM|user executing the script can't|ACL failure in script/.test(cause.message);
}

/** Returns the name of a command that the server does not know; undefined for any other error. */
export function unknownCommand(cause: unknown): string | undefined {
  return isErrorReply(cause) ? /^ERR unknown command [`'"]?(\w+)/i.exec(cause.message)?.[1]?.toUpperCase() : undefined;
}

export function explain(command: string, error: unknown): DelayQueueError {
  if (error instanceof DelayQueueError) return error;
  if (wasNotSent(error)) return notConnected(command, 0, error);
  if (!isErrorReply(error)) return outcomeUnknown(command, error);
  return /^(NOAUTH|WRONGPASS)/.test(error.message) ? loginRefused(command, error) : refused(command, error);
}

/** Returns the error for an error reply. Nothing was written, because scripts check everything before their first write. */
function refused(command: string, cause: Error): DelayQueueError {
  const { message } = withoutSecrets(cause) as Error;
  const word = /^[A-Z]+/.exec(message)?.[0] ?? '';
  const otherAdvice = unknownCommand(cause) === undefined ? 'see the cause' : UNKNOWN_COMMAND;
  const advice = ADVICE[lacksPermission(cause) ? 'NOPERM' : word] ?? otherAdvice;
  return failure('STORE_REFUSED', `Redis refused ${command}: ${message} (${advice})`, cause);
}

/** @param waited - how long the command has waited, ms; 0 if not at all @param advice - the probable mistake, if known */
export function notConnected(command: string, waited: number, cause: unknown, advice?: string): DelayQueueError {
  return failure(
    'NOT_CONNECTED',
    `Redis ${waited > 0 ? `was not reachable within ${waited} ms` : 'is not reachable'}, so ${command} was not sent: ` +
      `nothing was written. Check \`connection\` and that Redis is up${advice ? ` (${advice})` : ''}, then try again.`,
    cause,
  );
}

/** Returns the error for a command that was not sent because its caller would not have waited for the answer. */
export function connectedTooLate(command: string, left: number): DelayQueueError {
  return new DelayQueueError(
    'NOT_CONNECTED',
    `Redis became reachable only ${Math.round(left)} ms before the time for ${command} was up. That is too short for an ` +
      'answer, so it was not sent: nothing was written. Try again.',
  );
}

export function loginRefused(command: string, cause: unknown): DelayQueueError {
  return failure(
    'LOGIN_REFUSED',
    `Redis refuses the login, so ${command} was not sent: nothing was written. ${describeRefusal(cause)}`,
    cause,
  );
}

export function describeRefusal(reason: unknown): string {
  const { message } = withoutSecrets(reason) as Error;
  return `${message} (${adviceOnLogin(reason)})`;
}

function outcomeUnknown(command: string, cause: unknown): DelayQueueError {
  return failure(
    'OUTCOME_UNKNOWN',
    `The connection to Redis broke, or was too slow, before ${command} was answered: it may have been carried out. ` +
      'Try again with the same message id: a message that is still there is not duplicated.',
    cause,
  );
}

export function closed(command: string): DelayQueueError {
  return new DelayQueueError(
    'CLOSED',
    `The delay queue has shut down, so ${command} was not sent: nothing was written.`,
  );
}

const failure = (code: DelayQueueErrorCode, message: string, cause: unknown) =>
  new DelayQueueError(code, message, { cause: withoutSecrets(cause) });

const NO_TLS =
  'if the server speaks no TLS on this port, use redis:// instead of rediss://, or leave out `tls` in `connection`';
const TLS = 'if the server expects TLS on this port, use rediss:// instead of redis://, or set `tls` in `connection`';
const AUTHORITY =
  'if an authority of your own signed its certificate, set `tls: { ca }` in `connection` to that authority';
const NAMES = 'set `tls: { servername }` in `connection` to a name in the certificate, or connect by such a name';

const WITH_TLS: readonly (readonly [RegExp, string])[] = [
  [/^(ETIMEDOUT|ECONNRESET|EPROTO|ERR_SSL_.*)$/, NO_TLS],
  [/SELF_SIGNED|UNABLE_TO_(VERIFY|GET)/, AUTHORITY],
  [/ALTNAME_INVALID/, NAMES],
];

/**
 * Gives advice about the options of a connection that has never been ready. Undefined if the error is clear.
 * @param error - of the last attempt
 */
export function adviceOnConnecting(error: unknown, usesTls: boolean): string | undefined {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  // A server that expects TLS closes or resets the connection.
  if (!usesTls) return code === 'ECONNRESET' || code === 'EPIPE' ? TLS : undefined;
  return WITH_TLS.find(([codes]) => codes.test(String(code)))?.[1];
}

/** Returns the error for a connection that the other side closes without an error. */
export function closedEarly(): Error {
  return Object.assign(new Error('the connection was closed before it was ready'), { code: 'ECONNRESET' });
}

/** Returns the error for a connection whose TLS handshake the server does not answer. */
export function unansweredHandshake(): Error {
  return Object.assign(new Error('no answer to the TLS handshake'), { code: 'ETIMEDOUT' });
}
