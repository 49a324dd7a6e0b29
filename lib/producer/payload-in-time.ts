import { withinTimeout } from '../message/handler-results.js';
import { type EncodedPayload, nameOfPayload, type PayloadCheck } from '../message/payload-check.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import type { ResolvedModuleOptions } from '../options/module-options-schema.js';
import type { Clock } from '../timing/clock.js';

/**
 * Checks a payload before it is stored.
 * @returns a promise if the schema is asynchronous; the promise rejects with `OFFER_TIMEOUT` after `offerTimeout`
 * @throws DelayQueueError `INVALID_PAYLOAD`, at once or in the promise
 */
export function checkInTime(
  check: PayloadCheck,
  payload: EncodedPayload,
  clock: Clock,
  { offerTimeout }: Pick<ResolvedModuleOptions, 'offerTimeout'>,
): Promise<unknown> | undefined {
  const checked = check.encoded(payload);
  return (
    checked &&
    withinTimeout(checked, {
      clock,
      timeout: offerTimeout,
      onTimeout: (timeout) => tookTooLong(`${nameOfPayload(payload)}: the schema did not answer`, timeout),
    })
  );
}

/** Makes the error for a call that the application's schema or observer held up. */
export function tookTooLong(what: string, timeout: number): DelayQueueError {
  const problem = `${what} within offerTimeout, ${timeout} ms. Nothing was written. Make it faster, or raise offerTimeout`;
  return new DelayQueueError('OFFER_TIMEOUT', problem);
}
