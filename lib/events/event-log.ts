import type { Logger } from '@nestjs/common';
import ms from 'ms';
import type { MessageFailure } from '../message/message.js';
import { isFamily } from '../message/queue-name.js';
import type { BackgroundWork, DeathCause, HeldByQueue } from '../message/delay-queue-events.js';
import type { ConnectedServer, EventPayloads, Events } from './events.js';

/** The maximum number of ids in one log line. */
const NAMED = 5;

/** A log line gives a failure's duration only if it is at least this long, ms. */
const WORTH_MENTIONING = 60_000;

interface WorkTexts {
  readonly failing: string;
  readonly restored: string;
  readonly level: 'warn' | 'error';
}

const WORK: Readonly<Record<BackgroundWork, WorkTexts>> = {
  transfer: { failing: 'transfer failed', restored: 'transfer works again', level: 'error' },
  claim: { failing: 'claiming failed', restored: 'claiming works again', level: 'error' },
  settle: { failing: 'settling failed', restored: 'settling works again', level: 'error' },
  extend: { failing: 'leases could not be extended', restored: 'leases are extended again', level: 'warn' },
  repair: {
    failing: 'checking for lost messages failed',
    restored: 'checking for lost messages works again',
    level: 'warn',
  },
  subscribe: {
    failing: 'Announcements cannot be received, so messages may be late by up to checkInterval',
    restored: 'Announcements are received again',
    level: 'error',
  },
  'watch-target': {
    failing: 'messages from other clients cannot be watched, so they may be late by up to checkInterval',
    restored: 'messages from other clients are watched again',
    level: 'warn',
  },
  register: {
    failing:
      'Queues cannot be registered, so producer.queues() may not list them, and a handler of a family may not find them after a restart',
    restored: 'Queues are registered again',
    level: 'warn',
  },
  repeat: {
    failing: 'the message that repeats for its handler could not be offered',
    restored: 'the message that repeats for its handler is offered',
    level: 'error',
  },
  'find-queues': {
    failing: 'its queues cannot be looked up, so messages may be late',
    restored: 'its queues are looked up again',
    level: 'error',
  },
};

/** Causes of dead letters that no other event reports: `failed` reports handlers' failures, and `leases-expired` covers leases. */
const DEATHS: Readonly<Partial<Record<DeathCause, string>>> = {
  unreadable: 'its body cannot be read',
  'unknown-type': 'unknownTypeGrace is over',
  expired: 'it has expired',
};

function unknownForm(form: string): string {
  if (form === 'repeat') return 'it repeats, and this process has no calendar that reads its rule (option `calendar`)';
  const [, key] = /^encrypted:(.*)/.exec(form) ?? [];
  if (key !== undefined)
    return `it is encrypted with key '${key}', which this process does not have (option \`encryption\`)`;
  return `its body has the form '${form}', which only a newer version reads`;
}

/** The texts and levels of everything that is logged. */
type Texts = { readonly [Name in keyof EventPayloads]?: (logger: Logger, payload: EventPayloads[Name]) => void };

const QUEUE_TEXTS: Texts = {
  failed: (logger, { queue, id, attempt, attempts, failure, retryIn, trace }) => {
    if (retryIn === undefined) {
      const text = `${queue}: message ${id} is a dead letter after attempt ${attempt}: ${show(failure)}`;
      logger.error(text, trace || undefined);
    } else {
      logger.warn(
        `${queue}: message ${id} failed (attempt ${attempt} of ${attempts}), retrying in ${retryIn} ms: ${show(failure)}`,
      );
    }
  },
  dead: (logger, { queue, id, by, failure }) => {
    const because = DEATHS[by];
    if (because) logger.error(`${queue}: message ${id} is a dead letter because ${because}: ${show(failure)}`);
  },
  aborted: (logger, { queue, id }) => logger.log(`${queue}: message ${id} was aborted, so it is gone`),
  'dead-letters-dropped': (logger, { queue, count }) =>
    logger.warn(`${queue}: ${count} dead letters were dropped because the queue has reached maxDeadLetters`),
  'ids-dropped': (logger, { queue, count }) =>
    logger.warn(
      `${queue}: ${count} kept ids were dropped before their time, so offers with them are no longer ignored: raise idsFor.max`,
    ),
  'unknown-type': (logger, { queue, id, type = '', form, isFirst }) => {
    if (!isFirst) return;
    const problem = form === undefined ? noHandler(type) : unknownForm(form);
    logger.warn(
      `${queue}: message ${id} waits for another process: ${problem}. It is checked again every 30 s and ` +
        'becomes a dead letter after unknownTypeGrace',
    );
  },
  'lease-lost': (logger, { queue, id }) =>
    logger.warn(
      `${queue}: message ${id} was handled, but its lease was lost in the meantime, so the outcome does not count`,
    ),
  'messages-lost': (logger, { queue, count }) =>
    logger.error(`${queue}: ${count} ready messages have vanished from Redis: is it evicting keys?`),
  repaired: (logger, { queue, ids, delayed }) => {
    const names = ids.slice(0, NAMED).join(', ') + (ids.length > NAMED ? ', …' : '');
    logger.error(
      `${queue}: ${ids.length} messages were orphaned (neither delayed, ready, active nor dead); ${ids.length - delayed.length} are ` +
        `ready now and ${delayed.length} delayed (${names}): were keys of the queue deleted or changed?`,
    );
  },
  halted: (logger, { queue, reason }) =>
    logger.error(`${queue}: this process has stopped handling the queue: ${reason}`),
  unhandled: (logger, { queue }) =>
    logger.warn(`${queue}: messages are offered, but no process has ever handled this queue: is its name right?`),
  'groups-ignored': (logger, { queue }) =>
    logger.warn(
      `${queue}: the queue has messages with groups, but this process handles it without the option groups, so it leaves them alone: ` +
        `set queues['${queue}'].groups, such as { concurrency: 1 }, in every process; see docs/groups.md`,
    ),
  'groups-differ': (logger, { queue, own, other }) =>
    logger.warn(
      `${queue}: this process has groups: ${own}, and another one has ${other}; each follows its own, so configure all alike. ` +
        'During a deploy that changes them, this is normal',
    ),
  'repeat-lost': (logger, { queue, id }) =>
    logger.warn(
      `${queue}: the message '${id}', which repeats for its handler, was lost with Redis' data and has been offered again. ` +
        'Other messages may be lost as well',
    ),
  released: (logger, { queue, count }) =>
    logger.warn(
      `${queue}: ${count} messages were released because blocked handlers left no time to start them. ` +
        'Move the heavy work to worker threads, or lower the concurrency',
    ),
  'claims-unanswered': (logger, { queue, count }) =>
    logger.warn(
      `${queue}: ${count} claims in a row got no answer in time, so their messages were released. ` +
        'If the connection is slow, raise offerTimeout or lower maxPayloadBytes',
    ),
  'offered-while-held': (logger, { queue, id }) =>
    logger.warn(
      `${queue}: message '${id}' was offered while its handler was running, so the offer was ignored (created: false). ` +
        "To handle the same message again, end the handler with: return again('1d')",
    ),
  'again-not-returned': (logger, { place }) =>
    logger.warn(
      `again() was called at ${place}, but its value was not returned, so the message is gone. Write: return again(…)`,
    ),
  misused: (logger, { problem }) => logger.error(problem),
  'made-late': (logger, { methods, by }) =>
    logger.warn(
      `${methods.join(', ')}: never called, because handlers and listeners are only discovered at startup, and ${by} came later: ` +
        'provide the class in a module that the application imports',
    ),
  'observer-failed': (logger, { observer, reason }) =>
    logger.error(`${observer} failed; messages are still offered and handled: ${reason}`),
  'partitions-changed': (logger, { queue, from, to }) =>
    logger.log(`${queue}: partitions changed from ${from} to ${to}; running processes switch to the new number`),
  'partitions-adopted': (logger, { queue, configured, partitions }) =>
    logger.warn(
      `${queue}: this process is configured with partitions: ${configured}, but the queue has ${partitions}; using ${partitions}. ` +
        'The number only goes down when a process starts while the queue is empty; see docs/scaling.md',
    ),
  'partitions-missing': (logger, { queue, missing, partitions }) =>
    logger.warn(
      `${queue}: ${missing.length} of ${partitions} partitions do not answer (${missing.join(', ')}); counts and lists ` +
        'leave out their messages',
    ),
};

const PROCESS_TEXTS: Texts = {
  'memory-store': (logger) =>
    logger.warn(
      "store: 'memory' - messages live only in this process and ARE LOST WHEN IT ENDS; use Redis in production",
    ),
  'under-test': (logger) =>
    logger.warn(
      'DelayQueueTestingModule is imported - messages live only in this process, and none falls due until a test moves time; ' +
        'import it only in tests',
    ),
  'options-unmatched': (logger, { queue, nearest }) =>
    logger.warn(
      `queues.${queue}: this process uses no such queue, but it uses '${nearest}', which has no entry: is the name misspelt? ` +
        `The options do not apply to '${nearest}'`,
    ),
  'signals-ignored': (logger, { signal }) =>
    logger.warn(
      `Nothing listens for ${signal}, so it ends the process without waiting for handlers, and their messages are delivered again ` +
        'only when their leases expire: call app.enableShutdownHooks()',
    ),
  unchecked: (logger, { reason }) => logger.warn(`Redis could not be checked yet: ${reason}`),
  'handler-started': (logger, { queue, type, handler }) =>
    logger.log(
      `Handling ${isFamily(queue) ? 'queues' : 'queue'} '${queue}'${type && `, type '${type}',`} with ${handler}`,
    ),
  'handlers-not-started': (logger, { handlers }) => {
    const names = handlers.map(({ queue, type, handler }) => `${queue}${type && `/${type}`} (${handler})`).join(', ');
    logger.log(`consume: false - this process only offers; its handlers are not started: ${names}`);
  },
  'shutdown-waiting': (logger, { queues, until }) =>
    logger.log(
      `Shutting down: waiting for running handlers until ${until.toISOString()} (shutdownTimeout); ` +
        `their messages: ${countsOf(queues)}`,
    ),
  'shutdown-timed-out': (logger, { count, queues }) =>
    logger.warn(
      `${count} messages were not settled within shutdownTimeout; they are delivered again when their leases expire: ` +
        countsOf(queues),
    ),
};

const REDIS_TEXTS: Texts = {
  connected: (logger, server) => logger.log(connectedTo(server)),
  'connection-lost': (logger, { connection, reason, lasted }) =>
    logger.error(retried(`Redis connection for ${connection} is down`, reason, lasted)),
  'connection-restored': (logger, { connection, lasted }) =>
    logger.log(after(`Redis connection for ${connection} is back`, lasted)),
  'options-overridden': (logger, { options }) => {
    const each = options.map(({ name, because }) => `${name} (${because})`).join('; ');
    logger.warn(`The module sets these connection options itself and ignores yours: ${each}`);
  },
  'server-unidentified': (logger, { reason }) =>
    logger.warn(`Redis does not reveal its version and maxmemory-policy, so they are not checked: ${reason}`),
  'login-ignored': (logger, { reason }) =>
    logger.warn(
      `Redis does not use the login of \`connection\`: ${reason.replace(/\.$/, '')}. ` +
        'Is it the right server? Set a password there, or remove it from `connection`',
    ),
  'functions-unavailable': (logger, { reason }) =>
    logger.log(
      `Functions are not available in Redis (${reason}), so scripts do the same work, which costs Redis a little more: see scripting in ` +
        'docs/operations.md',
    ),
  'heartbeat-refused': (logger, { reason }) =>
    logger.warn(
      `Redis refuses this process's heartbeats, so producer.workers() does not list it; its messages are handled all the same: ${reason}`,
    ),
  'history-refused': (logger, { queue, reason }) =>
    logger.warn(
      `Redis refuses to remember handled messages of queue '${queue}'; they are handled all the same: ${reason}`,
    ),
  'server-unsupported': (logger, { reason }) => logger.error(reason),
  'wake-signals-separated': (logger, { reason }) =>
    logger.warn(
      `Redis refuses to wait for several queues in one call (${reason}), so each handled queue gets its own connection. ` +
        'Is it a cluster behind a proxy? If the cluster can be reached, connect to it: connection: { cluster: { nodes } }',
    ),
};

const WORK_TEXTS: Texts = {
  'work-failing': (logger, { work, queue, reason, lasted }) => {
    const { failing, level } = WORK[work];
    logger[level](retried(of(queue, failing), reason, lasted));
  },
  'work-restored': (logger, { work, queue, lasted }) => logger.log(after(of(queue, WORK[work].restored), lasted)),
};

/** The logger for each kind of log line. Neither may throw. */
interface Loggers {
  /** For queues and messages. */
  readonly queues: Logger;
  /** For Redis and its connections. */
  readonly redis: Logger;
}

/** Logs events and notes. No other code writes texts for the log. */
export function logEvents(events: Events, { queues, redis }: Loggers): void {
  subscribe(events, queues, { ...QUEUE_TEXTS, ...PROCESS_TEXTS, ...WORK_TEXTS });
  subscribe(events, redis, REDIS_TEXTS);
}

function subscribe(events: Events, logger: Logger, texts: Texts): void {
  for (const name of Object.keys(texts) as (keyof Texts)[]) {
    const write = texts[name] as (logger: Logger, payload: unknown) => void;
    events.on(name, (payload) => write(logger, payload));
  }
}

function connectedTo({
  server = 'Redis',
  address,
  primaries,
  master,
  database,
  prefix,
  isDefault,
}: ConnectedServer): string {
  const parts = [
    primaries === undefined
      ? `${server} at ${address}`
      : `${server}, a cluster of ${primaries} primaries, one at ${address}`,
    ...(master === undefined ? [] : [`the primary '${master}' of its sentinels`]),
    ...(database === undefined ? [] : [`database ${database}`]),
    `prefix ${prefix}`,
  ];
  return `Connected to ${parts.join(', ')}${isDefault ? ' (default connection: `connection` names no server)' : ''}`;
}

/** The maximum number of queues in one log line. */
const MAX_QUEUES = 5;

/** Names the queues with the most messages, and counts the rest. */
function countsOf(queues: readonly HeldByQueue[]): string {
  const named = [...queues].sort((a, b) => b.count - a.count).slice(0, MAX_QUEUES);
  const others = queues.length - named.length;
  const counts = named.map(({ queue, count }) => `${count} of ${queue}`).join(', ');
  return others > 0 ? `${counts}, and those of ${others} more queues` : counts;
}

const noHandler = (type: string) =>
  type === ''
    ? 'it has no type, and this process only handles typed messages'
    : `this process has no handler for type '${type}'`;

const show = ({ name, message }: MessageFailure) => `${name}: ${message}`;

const of = (queue: string | undefined, text: string) => (queue === undefined ? text : `${queue}: ${text}`);

function retried(text: string, reason: string, lasted: number): string {
  const duration = lasted < WORTH_MENTIONING ? '' : ` for ${ms(lasted, { long: true })} now`;
  return `${text}${duration}: ${reason.replace(/\.$/, '')}; retrying until it works`;
}

const after = (text: string, lasted: number) =>
  lasted < WORTH_MENTIONING ? text : `${text} after ${ms(lasted, { long: true })}`;
