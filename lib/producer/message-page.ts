import type { MessageSnapshot } from '../message/message.js';
import type { MayBeIncomplete } from './queue-counts.js';

/** Which messages of a state to list. */
export interface MessageQuery {
  /** The `cursor` of the previous page. Default: the first page. */
  readonly cursor?: string | undefined;
  /** How many messages come before the page, instead of a `cursor`: to begin in the middle. Default: 0. */
  readonly offset?: number | undefined;
  /** The maximum number of messages, 1–1000. Default: 100. */
  readonly limit?: number | undefined;
}

/**
 * One page of messages.
 *
 * @typeParam Snapshot - what a message looks like
 */
export interface MessagePage<Snapshot = MessageSnapshot> extends MayBeIncomplete {
  /** In the order of the state. */
  readonly messages: readonly Snapshot[];
  /** For the next page; null if this is the last one. */
  readonly cursor: string | null;
}
