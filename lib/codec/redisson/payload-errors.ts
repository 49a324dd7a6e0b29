import { DelayQueueError } from '../../message/delay-queue.errors.js';

/** The error of a payload that a codec has no bytes for. */
export function unwritable(reason: string, cause?: unknown): DelayQueueError {
  return new DelayQueueError('INVALID_PAYLOAD', `payload: ${reason}`, cause === undefined ? {} : { cause });
}

/** The error of bytes that a codec does not write. It quotes none of them: payloads must not get into logs. */
export function unreadable(bytes: Buffer, codec: string, reason: string, cause?: unknown): DelayQueueError {
  return new DelayQueueError(
    'INVALID_PAYLOAD',
    `payload: its ${bytes.length} bytes were not written by a ${codec} codec: ${reason}; ` +
      'let every service use the same codec for a queue',
    cause === undefined ? {} : { cause },
  );
}

/**
 * JSON that Java sees when it takes it from a queue: a null looks like an empty queue there.
 *
 * @throws DelayQueueError `INVALID_PAYLOAD`
 */
export function presentJson(json: string): string {
  if (json === 'null')
    throw unwritable('it is null as JSON, which Java cannot tell from an empty queue; offer an object');
  return json;
}
