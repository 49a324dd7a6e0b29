import { DelayQueueError } from '../message/delay-queue-errors.js';
import type { Layout } from './layout.js';

interface QueueOfLayout {
  readonly name: string;
  readonly options: { readonly layout: Pick<Layout, 'name'> };
}

/** Returns the error for what the layout of a queue cannot do. */
export function unsupported({ name, options }: QueueOfLayout, what: string): DelayQueueError {
  const problem = `${what}: layout '${options.layout.name}' of queue '${name}' cannot do this; leave it out`;
  return new DelayQueueError('UNSUPPORTED_BY_LAYOUT', problem);
}
