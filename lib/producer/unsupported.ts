import { DelayQueueError } from '../message/delay-queue-errors.js';
import type { Queue } from '../runtime/queues.js';

/** The error of a call that asks for what the layout of a queue cannot do. */
export function unsupported({ name, options }: Queue, what: string): DelayQueueError {
  const problem = `${what}: layout '${options.layout.name}' of queue '${name}' cannot do this; leave it out`;
  return new DelayQueueError('UNSUPPORTED_BY_LAYOUT', problem);
}
