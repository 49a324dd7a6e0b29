import { types } from 'node:util';
import { DelayQueueError } from '../../message/delay-queue.errors.js';

/** What to do about an error reply, by its first word. */
const ADVICE: Readonly<Record<string, string>> = {
  OOM: 'Redis is out of memory: raise maxmemory or remove data',
  WRONGTYPE: 'a key of the queue holds something else: choose another prefix, or remove the foreign key',
  READONLY: 'this is a replica: connect to the primary',
  LOADING: 'Redis is still loading its data: try again when it has',
  MISCONF: 'Redis cannot save its data to its disk: look into its log, and mend or free the disk',
  NOPERM: 'the Redis user lacks a permission for a command, a key or a channel: extend its ACL',
  LATE: 'the call took longer than offerTimeout to reach Redis, or the clock of Redis was set: try again',
  BUSY: 'another script blocks Redis: end it with SCRIPT KILL',
  NOREPLICAS: 'fewer replicas are in sync than min-replicas-to-write: look into the replication',
  CLUSTERDOWN: 'the cluster does not serve this slot: look into CLUSTER INFO',
  MASTERDOWN: 'the primary is down: wait for the failover',
};

/**
 * What a server, a sentinel or a proxy says to a connection that it does not let in, however often it is asked; and what to
 * do about it.
 */
const LOGIN_ADVICE: readonly (readonly [RegExp, string])[] = [
  [/sentinel.*\b(NOAUTH|WRONGPASS|NOPERM)\b/, 'see `sentinelUsername` and `sentinelPassword` in `connection`'],
  [/\bNOAUTH\b/, 'Redis wants a password: set it in `connection`'],
  [
    /\bWRONGPASS\b|invalid password/,
    'the user name or the password in `connection` is wrong; in a URL, percent-encode what is special in them',
  ],
  [/\bNOPERM\b/, 'the Redis user lacks a permission: extend its ACL'],
  [/DB index|SELECT is not allowed/, 'choose another `db` in `connection`, or raise `databases` of the server'],
  [/cluster support disabled/, 'this server is no cluster: give its URL, or its options, as `connection`'],
  [/unknown command/i, 'Redis, or a proxy before it, does not know how to log in: use Redis 7.0 or newer, or Valkey'],
];

/** A server that does not know a command repeats its arguments: passwords, where it is one to log in. */
const REPEATED_ARGUMENTS = /,? with args beginning with[^]*/;

export const isErrorReply = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError';

/**
 * Takes from an error what must not get into logs with it or as its cause: the command that it answers, as ioredis attaches it
 * and as a server repeats it, for its arguments are payloads and passwords; and a URL that could not be read.
 */
export function withoutSecrets(error: unknown): unknown {
  if (!types.isNativeError(error)) return error;
  delete (error as { command?: unknown }).command;
  delete (error as { input?: unknown }).input;
  const { message, stack } = error;
  const bare = message.replace(REPEATED_ARGUMENTS, '');
  if (bare !== message) Object.assign(error, { message: bare, stack: stack?.replace(message, () => bare) });
  return error;
}

/** Of an error that stands for those of several nodes or addresses, one of them; without what must not be told. */
export function reasonOf(error: unknown): unknown {
  const { lastNodeError, errors } = (error ?? {}) as { lastNodeError?: unknown; errors?: readonly unknown[] };
  return withoutSecrets(lastNodeError ?? errors?.[0] ?? error);
}

/** What to do if an error says that the connection is not let in; undefined: it may be, later. */
export function adviceOnLogin(reason: unknown): string | undefined {
  return types.isNativeError(reason) ? LOGIN_ADVICE.find(([said]) => said.test(reason.message))?.[1] : undefined;
}

/** What ioredis says of a command that it neither sent nor kept. */
export function wasNotSent(error: unknown): boolean {
  return error instanceof Error && error.message.includes('enableOfflineQueue options is false');
}

/** Why a command failed, as users are told. */
export function explain(command: string, error: unknown): DelayQueueError {
  if (error instanceof DelayQueueError) return error;
  if (isErrorReply(error)) {
    return /^(NOAUTH|WRONGPASS)/.test(error.message) ? loginRefused(command, error) : refused(command, error);
  }
  return wasNotSent(error) ? notConnected(command, 0, error) : outcomeUnknown(command, error);
}

/** Redis said no: nothing was written, because scripts check everything before their first write. */
export function refused(command: string, cause: Error): DelayQueueError {
  const word = /^[A-Z]+/.exec(cause.message)?.[0] ?? '';
  const advice = ADVICE[lacksPermission(cause) ? 'NOPERM' : word] ?? 'see the error underneath';
  return new DelayQueueError('STORE_REFUSED', `Redis refused ${command}: ${cause.message} (${advice})`, {
    cause: withoutSecrets(cause),
  });
}

/** Of the refusal of a call that arrived after its deadline, what the server's clock showed, ms; undefined: it is none. */
export function serverTimeOfLateCall(error: unknown): number | undefined {
  const time = isErrorReply(error) ? /^LATE (\d+)/.exec(error.message)?.[1] : undefined;
  return time === undefined ? undefined : Number(time);
}

/** Whether Redis refused because of its user's ACL: for a command itself, or for one inside a script. */
export function lacksPermission(cause: unknown): cause is Error {
  return isErrorReply(cause) && /^NOPERM|user executing the script can't|ACL failure in script/.test(cause.message);
}

export function notConnected(command: string, waited: number, cause: unknown): DelayQueueError {
  return new DelayQueueError(
    'NOT_CONNECTED',
    `Redis ${waited > 0 ? `was not reachable within ${waited} ms` : 'is not reachable'}, so ${command} was not sent: ` +
      'nothing was written. Check `connection` and that Redis is up, then try again.',
    { cause: withoutSecrets(cause) },
  );
}

/** The server does not let the connection in, and so no command was sent. */
export function loginRefused(command: string, cause: unknown): DelayQueueError {
  return new DelayQueueError(
    'LOGIN_REFUSED',
    `Redis does not let the connection in, so ${command} was not sent: nothing was written. ${describeRefusal(cause)}`,
    { cause: withoutSecrets(cause) },
  );
}

/** What was said, and what to do. */
export function describeRefusal(reason: unknown): string {
  const { message } = withoutSecrets(reason) as Error;
  return `${message} (${adviceOnLogin(reason)})`;
}

export function outcomeUnknown(command: string, cause: unknown): DelayQueueError {
  return new DelayQueueError(
    'OUTCOME_UNKNOWN',
    `The connection to Redis broke, or was too slow, before ${command} was answered: it may have been carried out. ` +
      'Try again with the same message id: a message that is still there is not doubled.',
    { cause: withoutSecrets(cause) },
  );
}

export function closed(command: string): DelayQueueError {
  return new DelayQueueError(
    'CLOSED',
    `The delay queue has shut down, so ${command} was not sent: nothing was written.`,
  );
}
