import { Inject, type InjectionToken, type Type } from '@nestjs/common';
import { readInstanceName, UNNAMED } from '../message/instance-name.js';
import { DelayQueueProducer } from './delay-queue-producer.js';
import { QueueParts } from './queue-methods.js';

// Fixed names, because a bundler may shorten the names of the classes.
const NAMES = new Map<Type, string>([
  [DelayQueueProducer, 'DelayQueueProducer'],
  [QueueParts, 'DelayQueueParts'],
]);

/** Returns the token under which other modules inject a part of an instance: for the instance without a name, the class itself. */
export function tokenOf<Part>(part: Type<Part>, instance: string): InjectionToken<Part> {
  return instance === UNNAMED ? part : `${NAMES.get(part)}:${instance}`;
}

/**
 * Returns the token of a named instance's producer, for `inject`, `get` and `overrideProvider`. Without a name: `DelayQueueProducer`.
 * @param instance - the `name` given to `DelayQueueModule.forRoot()`
 * @throws DelayQueueError `INVALID_OPTION` immediately if the name is malformed
 * @example
 * ```ts
 * const reports = {
 *   provide: 'reports',
 *   inject: [getDelayQueueProducerToken('billing')],
 *   useFactory: (billing: DelayQueueProducer) => ({ plan: () => billing.offer('reports', {}, '1h') }),
 * };
 * ```
 */
export function getDelayQueueProducerToken(instance?: string): InjectionToken<DelayQueueProducer> {
  return tokenOf(DelayQueueProducer, readInstanceName(instance, 'instance'));
}

/**
 * Injects the producer of a named instance.
 * @param instance - the `name` given to `DelayQueueModule.forRoot()`
 * @throws DelayQueueError `INVALID_OPTION` immediately if the name is malformed
 * @example
 * ```ts
 * @Injectable()
 * class Invoices {
 *   constructor(@InjectDelayQueueProducer('billing') private readonly billing: DelayQueueProducer) {}
 * }
 * ```
 */
export function InjectDelayQueueProducer(instance?: string): PropertyDecorator & ParameterDecorator {
  return Inject(getDelayQueueProducerToken(instance));
}
