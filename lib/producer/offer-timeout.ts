import { nameOfPayload } from '../handler/definition/payload-check.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';

/** Of an offer that an observer has not let begin in time. */
export function heldUp(queue: string, observer: string, timeout: number): DelayQueueError {
  return tookTooLong(`offer to queue '${queue}': the observer ${observer} did not call next()`, timeout);
}

/** Of an offer whose payload a schema has not checked in time. */
export function uncheckedInTime(payload: Parameters<typeof nameOfPayload>[0], timeout: number): DelayQueueError {
  return tookTooLong(`${nameOfPayload(payload)}: the schema did not answer`, timeout);
}

function tookTooLong(what: string, timeout: number): DelayQueueError {
  const problem = `${what} within offerTimeout, ${timeout} ms. Nothing was written. Make it faster, or raise offerTimeout`;
  return new DelayQueueError('OFFER_TIMEOUT', problem);
}
