import type { MessageCounts } from '../message/message.js';

/** What is read of a queue as a whole. With `partitions`, some of them may not answer. */
export interface MayBeIncomplete {
  /**
   * The partitions that did not answer, from 0: what is in them is left out. Absent if all have answered, and always without
   * `partitions`: then a read that is not answered fails.
   */
  readonly missing?: readonly number[];
}

/** How many messages of a queue are in each state. */
export type QueueCounts = MessageCounts & MayBeIncomplete;
