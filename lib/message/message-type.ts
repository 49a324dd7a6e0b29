import { DelayQueueError } from './delay-queue-errors.js';
import { showGiven } from './show-given.js';

/** The type of a message that was offered without a type. */
export const NO_TYPE = '';

const MESSAGE_TYPE = /^[A-Za-z0-9_.:-]{1,64}$/;

export const MESSAGE_TYPE_RULE = 'a message type has 1–64 of the characters A–Z a–z 0–9 _ . : -';

export function isMessageType(type: unknown): type is string {
  return typeof type === 'string' && MESSAGE_TYPE.test(type);
}

export function assertMessageType(type: unknown): asserts type is string {
  if (isMessageType(type)) return;
  const given = typeof type === 'string' ? JSON.stringify(type.slice(0, 80)) : showGiven(type);
  throw new DelayQueueError('INVALID_ARGUMENT', `type: ${MESSAGE_TYPE_RULE}, not ${given}; leave it out for none`);
}
