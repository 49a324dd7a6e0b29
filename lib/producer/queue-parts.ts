import { Inject, Injectable } from '@nestjs/common';
import { QueueRegistrar } from '../runtime/queue-registrar.js';
import { Queues } from '../runtime/queues.js';
import { Changes } from './changes.js';
import { Offers } from './offers.js';
import { Repeats } from './repeats.js';

/** Where the producer and the typed queues of an instance have their {@link QueueParts}, in every copy of the package. */
export const PARTS: unique symbol = Symbol.for('nestjs-delay-queue:parts');

/** What the methods of the producer and of typed queues are made of. */
@Injectable()
export class QueueParts {
  @Inject() readonly queues!: Queues;
  @Inject() readonly registrar!: QueueRegistrar;
  @Inject() readonly offers!: Offers;
  @Inject() readonly changes!: Changes;
  @Inject() readonly repeats!: Repeats;
}
