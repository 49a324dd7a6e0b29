import { DelayQueueError } from 'nestjs-delay-queue';

/** The error for a payload that a codec cannot represent. */
export function unwritable(reason: string, cause?: unknown): DelayQueueError {
  return new DelayQueueError('INVALID_PAYLOAD', `payload: ${reason}`, cause === undefined ? {} : { cause });
}

/** The error for bytes that a codec does not write. It quotes none of them, because payloads must not get into logs. */
export function unreadable(bytes: Buffer, codec: string, reason: string, cause?: unknown): DelayQueueError {
  return new DelayQueueError(
    'INVALID_PAYLOAD',
    `payload: its ${bytes.length} bytes were not written by a ${codec} codec: ${reason}; ` +
      'use the same codec for the queue in every service',
    cause === undefined ? {} : { cause },
  );
}

/** Refuses a JSON null, which Java could not distinguish from an empty queue. @throws DelayQueueError `INVALID_PAYLOAD` */
export function presentJson(json: string): string {
  if (json === 'null')
    throw unwritable('it is null in JSON, which Java cannot distinguish from an empty queue; offer an object');
  return json;
}
