import type { QueueAdapterOptions } from '@bull-board/api/typings/app';
import type { DefinedBy, MessageChange, OfferRequest, OfferResult } from 'nestjs-delay-queue';

/** What bull-board lets you set for each queue: `readOnlyMode`, `displayName`, `description`… */
export type BoardAdapterOptions = Partial<QueueAdapterOptions>;

/** What the board needs of a typed queue, as Nest injects it. */
export interface QueueHandle {
  /** The queue's name. */
  readonly queue: string;
  /** Offers messages with their payloads checked. */
  offerMany(messages: readonly OfferRequest[]): Promise<OfferResult[]>;
  /** Changes a delayed message, its payload checked. */
  reschedule(id: string, due: Date, change?: MessageChange): Promise<boolean>;
}

/**
 * A queue: its name, the class of a typed queue, or a typed queue as Nest injects it. Only the last one can check the payloads of
 * messages that are added or edited on the board.
 */
export type BoardQueue = string | DefinedBy<unknown> | QueueHandle;

/** The name of a queue. */
export function nameOf(queue: BoardQueue): string {
  if (typeof queue === 'string') return queue;
  return 'definition' in queue ? queue.definition.queue : queue.queue;
}

/** Says which instance a typed queue belongs to; undefined: the queue was given by its name. */
export function definitionOf(queue: BoardQueue): DefinedBy<unknown>['definition'] | undefined {
  if (typeof queue === 'string') return undefined;
  return ('definition' in queue ? queue : (queue.constructor as Partial<DefinedBy<unknown>> | undefined))?.definition;
}

/** The handle, if the queue was given as one. */
export function handleOf(queue: BoardQueue): QueueHandle | undefined {
  return typeof queue === 'object' && 'offerMany' in queue ? queue : undefined;
}
