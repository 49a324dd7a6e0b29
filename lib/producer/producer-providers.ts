import type { Provider } from '@nestjs/common';
import { UNNAMED } from '../message/instance-name.js';
import { namedInstance } from '../runtime/instance.js';
import { runtimeProviders } from '../runtime/runtime-providers.js';
import { Changes } from './changes.js';
import { DelayQueueProducer, tokenOf } from './delay-queue-producer.js';
import { Offers } from './offers.js';
import { QueueParts } from './queue-methods.js';
import { RelayTarget } from './relay-target.js';

/** The providers of every instance, except those of features such as repeating messages. */
export const producerProviders: Provider[] = [...runtimeProviders, Offers, Changes, QueueParts, RelayTarget];

/** Returns the providers that depend on an instance's name, and the tokens that its module exports. */
export function namedProviders(name: string) {
  const producer = { provide: tokenOf(DelayQueueProducer, name), useClass: DelayQueueProducer };
  const ofTypedQueues = { provide: tokenOf(QueueParts, name), useExisting: QueueParts };
  return {
    providers: [namedInstance(name), producer, ...(name === UNNAMED ? [] : [ofTypedQueues])],
    exports: [producer.provide, ofTypedQueues.provide],
  };
}
