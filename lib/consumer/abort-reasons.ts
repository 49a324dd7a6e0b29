import { againWatch } from '../message/again-watch.js';

/** A signal's `reason`: somebody has aborted the message. It is gone, and its outcome does not count. */
export class MessageAborted extends Error {
  override readonly name = 'MessageAborted';
}

/** A signal's `reason`: the message's lease is lost, so its outcome no longer counts. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** A signal's `reason`: the handler took longer than its `timeout`, so the attempt has failed. */
export class HandlerTimeout extends Error {
  override readonly name = 'HandlerTimeout';
}

/** A signal's `reason`: the process is about to stop. */
export class ShuttingDown extends Error {
  override readonly name = 'ShuttingDown';
}

/** Aborts the signals of messages that took too long, and returns the reason. Their handlers may still carry on. */
export function timeOut(deliveries: readonly { abort(reason: Error): void }[], problem: string): HandlerTimeout {
  const reason = new HandlerTimeout(problem);
  againWatch.stop();
  for (const delivery of deliveries) delivery.abort(reason);
  return reason;
}

export const slowHandler = (timeout: number): string => `The handler took longer than its timeout of ${timeout} ms`;

export const slowSchema = (timeout: number): string =>
  `The schema of the payload took longer than the timeout of the handler, ${timeout} ms`;

export const slowObserver = (observer: string, timeout: number): string =>
  `The observer ${observer} did not call next() within the timeout of the handler, ${timeout} ms`;
