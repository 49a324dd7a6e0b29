import type { Logger } from '@nestjs/common';
import ms from 'ms';
import type { MessageFailure } from '../message/message.js';
import type { BackgroundWork, DelayQueueEvents } from './delay-queue-events.js';
import type { Events } from './events.js';

/** So many ids are named in a line. */
const NAMED = 5;

/** From this many milliseconds on, a line says how long something lasts. */
const WORTH_TELLING = 60_000;

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
    failing: 'it could not be checked for lost messages',
    restored: 'it is checked for lost messages again',
    level: 'warn',
  },
  subscribe: {
    failing: 'Announcements are not heard, so messages may be late by up to checkInterval',
    restored: 'Announcements are heard again',
    level: 'error',
  },
  'watch-target': {
    failing: 'values of other clients may be late by up to checkInterval',
    restored: 'values of other clients are noticed again',
    level: 'warn',
  },
};

/** What the log says, at which level. Of everything else it is silent. */
type Texts = {
  readonly [Name in keyof DelayQueueEvents]?: (logger: Logger, event: DelayQueueEvents[Name]) => void;
};

const MESSAGE_TEXTS: Texts = {
  failed: (logger, { queue, id, attempt, attempts, failure, retryIn }) => {
    if (retryIn === undefined) {
      const text = `${queue}: message ${id} is a dead letter after attempt ${attempt}: ${show(failure)}`;
      logger.error(text, failure.stack);
    } else {
      logger.warn(
        `${queue}: message ${id} failed (attempt ${attempt} of ${attempts}), again in ${retryIn} ms: ${show(failure)}`,
      );
    }
  },
  unreadable: (logger, { queue, id, failure }) =>
    logger.error(`${queue}: message ${id} is a dead letter, its body cannot be read: ${show(failure)}`),
  leaseLost: (logger, { queue, id }) =>
    logger.warn(`${queue}: message ${id} was handled, but its lease was lost meanwhile: the outcome does not count`),
  dropped: (logger, { queue, count }) =>
    logger.warn(`${queue}: ${count} dead letters dropped, the queue is at maxDeadLetters`),
  givenBack: (logger, { queue, count }) =>
    logger.warn(
      `${queue}: ${count} messages were given back, because handlers block the event loop and theirs could not start in ` +
        'time. Let worker threads do the heavy work, or lower the concurrency',
    ),
  claimsUnanswered: (logger, { queue, count }) =>
    logger.warn(
      `${queue}: ${count} claims in a row were not answered in time, so their messages are given back. ` +
        'Where the connection is slow, raise offerTimeout or lower maxPayloadBytes',
    ),
  orphansRemoved: (logger, { queue, count }) =>
    logger.error(`${queue}: ${count} ready ids had no message and are dropped: is Redis evicting keys?`),
  repaired: (logger, { queue, ids }) => {
    const names = ids.slice(0, NAMED).join(', ') + (ids.length > NAMED ? ', …' : '');
    logger.error(
      `${queue}: ${ids.length} messages were in no state and are ready again (${names}): ` +
        'were keys of the queue deleted or changed?',
    );
  },
  offeredWhileHeld: (logger, { queue, id }) =>
    logger.warn(
      `${queue}: message '${id}' was offered while its handler runs, so the offer was ignored (created: false). ` +
        "To handle the same message again, let the handler end with: return again('1d')",
    ),
  misused: (logger, { problem }) => logger.error(problem),
};

const PROCESS_TEXTS: Texts = {
  memoryStore: (logger) =>
    logger.warn("store: 'memory' - messages live in this process alone and DIE WITH IT; use Redis for real work"),
  unchecked: (logger, { reason }) => logger.warn(`Redis is not checked yet: ${reason}`),
  handlerStarted: (logger, { queue, handler }) => logger.log(`Handling queue '${queue}' with ${handler}`),
  handlersNotStarted: (logger, { handlers }) => {
    const names = handlers.map(({ queue, name }) => `${queue} (${name})`).join(', ');
    logger.log(`consume: false - this process only offers; its handlers are not started: ${names}`);
  },
  unsettled: (logger, { count }) =>
    logger.warn(`${count} messages were not settled within shutdownTimeout; they come back when their leases end`),
};

const REDIS_TEXTS: Texts = {
  connectionLost: (logger, { connection, reason, lasted }) =>
    logger.error(retried(`Redis connection for ${connection} is down`, reason, lasted)),
  connectionRestored: (logger, { connection, lasted }) =>
    logger.log(after(`Redis connection for ${connection} is back`, lasted)),
  optionsOverridden: (logger, { options }) => {
    const each = options.map(({ name, because }) => `${name} (${because})`).join('; ');
    logger.warn(`Options of the connection that the module sets itself, so that yours do not hold: ${each}`);
  },
  serverUntold: (logger, { reason }) =>
    logger.warn(`Redis does not tell its version and its maxmemory-policy, so they are not checked: ${reason}`),
  serverUnfit: (logger, { reason }) => logger.error(reason),
};

const WORK_TEXTS: Texts = {
  workFailing: (logger, { work, queue, reason, lasted }) => {
    const { failing, level } = WORK[work];
    logger[level](retried(of(queue, failing), reason, lasted));
  },
  workRestored: (logger, { work, queue, lasted }) => logger.log(after(of(queue, WORK[work].restored), lasted)),
};

/** Who says what. A logger must not throw. */
export interface Loggers {
  /** Of queues and messages. */
  readonly queues: Logger;
  /** Of Redis. */
  readonly redis: Logger;
}

/** Writes the log: the first to listen to events, and the only place where its texts are made. */
export function logEvents(events: Events, { queues, redis }: Loggers): void {
  subscribe(events, queues, { ...MESSAGE_TEXTS, ...PROCESS_TEXTS, ...WORK_TEXTS });
  subscribe(events, redis, REDIS_TEXTS);
}

function subscribe(events: Events, logger: Logger, texts: Texts): void {
  for (const name of Object.keys(texts) as (keyof Texts)[]) {
    const write = texts[name] as (logger: Logger, event: unknown) => void;
    events.on(name, (event) => write(logger, event));
  }
}

const show = ({ name, message }: MessageFailure) => `${name}: ${message}`;

const of = (queue: string | undefined, text: string) => (queue === undefined ? text : `${queue}: ${text}`);

function retried(text: string, reason: string, lasted: number): string {
  const duration = lasted < WORTH_TELLING ? '' : ` for ${ms(lasted, { long: true })} now`;
  return `${text}${duration}: ${reason.replace(/\.$/, '')}; it is retried until it works`;
}

const after = (text: string, lasted: number) =>
  lasted < WORTH_TELLING ? text : `${text} after ${ms(lasted, { long: true })}`;
