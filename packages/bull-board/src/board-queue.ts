import type { QueueAdapterOptions } from '@bull-board/api/typings/app';
import type { DefinedBy, MessageChange, OfferRequest, OfferResult } from 'nestjs-delay-queue';

/** Options of bull-board for each queue: `readOnlyMode`, `displayName`, `description`… */
export type BoardAdapterOptions = Partial<QueueAdapterOptions>;

/** The part of a typed queue, as Nest injects it, that the board uses. */
export interface QueueHandle {
  /** The queue's name. */
  readonly queue: string;
  /** Offers messages with their payloads checked. */
  offerMany(messages: readonly OfferRequest[]): Promise<OfferResult[]>;
  /** Changes a delayed message, with its payload checked. */
  reschedule(id: string, due: Date, change?: MessageChange): Promise<boolean>;
}

/**
 * A queue: its name, the class of a typed queue, or a typed queue as Nest injects it. Only the last one can check the payloads of messages
 * that are added or edited on the board.
 */
export type BoardQueue = string | DefinedBy<unknown> | QueueHandle;

export function nameOf(queue: BoardQueue): string {
  if (typeof queue === 'string') return queue;
  return 'definition' in queue ? queue.definition.queue : queue.queue;
}

/** Names the instance of a typed queue; undefined if the queue was given by its name. */
export function definitionOf(queue: BoardQueue): DefinedBy<unknown>['definition'] | undefined {
  if (typeof queue === 'string') return undefined;
  return ('definition' in queue ? queue : (queue.constructor as Partial<DefinedBy<unknown>> | undefined))?.definition;
}

export function handleOf(queue: BoardQueue): QueueHandle | undefined {
  return typeof queue === 'object' && 'offerMany' in queue ? queue : undefined;
}
