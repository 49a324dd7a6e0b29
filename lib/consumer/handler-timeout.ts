import { againWatch } from '../message/again-watch.js';
import { type Delivery, HandlerTimeout } from './delivery.js';

/**
 * Aborts the signals of messages whose time is up. Their handler may go on nevertheless.
 *
 * @param problem - what took how long
 * @returns what they fail with
 */
export function timeOut(deliveries: readonly Delivery[], problem: string): HandlerTimeout {
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
