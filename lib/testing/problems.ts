import { DelayQueueError } from '../message/delay-queue-errors.js';
import { areTimersFake } from './real-time.js';

/** A message and its handler, for error messages. */
export interface Described {
  readonly queue: string;
  readonly id: string | undefined;
  readonly type: string;
  /** Class and method; undefined if this application has no handler for it. */
  readonly handler: string | undefined;
}

interface Call {
  readonly name: string;
  readonly limit: number;
  readonly patience: number;
}

export function unended({ name, patience }: Omit<Call, 'limit'>, message: Described): DelayQueueError {
  const fake = areTimersFake()
    ? ' Timers are fake now: a timer that the handler waits for fires only when the test advances it.'
    : ' Time stands still while a handler runs, so one that waits for another message or for a long timer never ends.';
  return new DelayQueueError(
    'UNFINISHED',
    `${name}: ${message.handler ?? 'a handler'} has not ended within ${patience} ms of real time (${show(message)}).${fake} ` +
      'Stub what it waits for, or allow more time with { patience }',
    { ...(message.id !== undefined && { messageId: message.id }) },
  );
}

export function notAdmitted({ name, limit }: Call, message: Described): DelayQueueError {
  return new DelayQueueError(
    'UNFINISHED',
    `${name}: ${limit} attempts have ended and there is more to handle, next by ${message.handler ?? 'no handler'} ` +
      `(${show(message)}). If each message causes another one, use advance() with a duration; otherwise raise { limit }`,
  );
}

export function closed(name: string): DelayQueueError {
  return new DelayQueueError('CLOSED', `${name}: the application has shut down`);
}

export function overlapping(name: string, underWay: string): DelayQueueError {
  return new DelayQueueError(
    'UNFINISHED',
    `${name}: ${underWay} is still under way. Await each call before you make the next one; a handler cannot move time`,
  );
}

function show({ queue, id, type }: Described): string {
  const ofType = type === '' ? '' : ` of type '${type}'`;
  return id === undefined ? `queue '${queue}'` : `queue '${queue}', message '${id}'${ofType}`;
}
