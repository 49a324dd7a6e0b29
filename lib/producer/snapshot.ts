import { readContent } from '../message/codec/read-content.js';
import { dateOf } from '../message/date-of.js';
import type { MessageFailure, MessageSnapshot } from '../message/message.js';
import type { Queue } from '../runtime/queues.js';
import type { StoredMessage } from '../store/message-upkeep.js';

/** Shows a user what a store keeps. A body that cannot be decoded is shown as its bytes. */
export function snapshotOf<T>({ name: queue, codec }: Queue, message: StoredMessage): MessageSnapshot<T> {
  const { id, state, body, failedAttempts, dueAt, offeredAt, leasedUntil, death } = message;
  return {
    id,
    queue,
    state,
    ...readContent<T>(codec, body),
    failedAttempts,
    dueAt: dateOf(dueAt),
    offeredAt: dateOf(offeredAt),
    ...(leasedUntil !== null && { leasedUntil: dateOf(leasedUntil) }),
    ...(death !== null && { diedAt: dateOf(death.at), error: readFailure(death.error) }),
  };
}

/** Whatever is stored, it must not hide the message. */
function readFailure(text: string): MessageFailure {
  try {
    const { name, message, stack } = JSON.parse(text) as Partial<Record<keyof MessageFailure, unknown>>;
    if (typeof name === 'string' && typeof message === 'string') {
      return { name, message, ...(typeof stack === 'string' && { stack }) };
    }
  } catch {
    // Somebody else has written it.
  }
  return { name: 'Unknown', message: `The error of this dead letter cannot be read: ${text}` };
}
