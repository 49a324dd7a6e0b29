import { Inject, Injectable } from '@nestjs/common';
import { QueueRegistrar } from '../runtime/queue-registrar.js';
import { Queues } from '../runtime/queues.js';
import { Changes } from './changes.js';
import { Offers } from './offers.js';
import { Repeats } from './repeats.js';

/** The property of the producer and the typed queues that has their {@link QueueParts}, the same in every copy of the package. */
export const PARTS: unique symbol = Symbol.for('nestjs-delay-queue:parts');

/** Services behind the methods of the producer and the typed queues. */
@Injectable()
export class QueueParts {
  @Inject() readonly queues!: Queues;
  @Inject() readonly registrar!: QueueRegistrar;
  @Inject() readonly offers!: Offers;
  @Inject() readonly changes!: Changes;
  @Inject() readonly repeats!: Repeats;
}
