import { DelayQueueError } from '../message/delay-queue-errors.js';
import type { MessageState } from '../message/message.js';

/** How many bytes of bodies a page may have; a single one may be larger. */
export const PAGE_BYTES = 1_048_576;

/** The place of a message among those of its state. What it consists of is up to the store. */
export interface Place {
  /** The score or position; empty if it has none. */
  readonly at: string;
  readonly name: string;
}

/** A number as Redis prints a score. */
const NUMBER = /^-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|inf)$/;
const POSITION = /^-?\d{1,15}$/;

/** What there is in the places of a state: `at` and `name`. */
const FORMS: Readonly<Record<MessageState, (place: Place) => boolean>> = {
  delayed: ({ at }) => NUMBER.test(at),
  ready: ({ at }) => POSITION.test(at),
  active: ({ at, name }) => at === '' && name.includes('\n'),
  dead: ({ at }) => NUMBER.test(at),
};

/** @param place - `at` and `name`, with a colon between them */
export function formatCursor(state: MessageState, place: string): string {
  return `${state}:${place}`;
}

/**
 * Reads a cursor that {@link formatCursor} wrote.
 *
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export function parseCursor(state: MessageState, cursor: string): Place {
  const [, of, at = '', name = ''] = /^(\w+):([^:]*):(.+)$/s.exec(cursor) ?? [];
  const place = { at, name };
  if (of === state && FORMS[state](place)) return place;
  throw wrongCursor(state);
}

/** The error for what is not the cursor of a page of this state. */
export function wrongCursor(state: MessageState): DelayQueueError {
  const problem = `must be the \`cursor\` of an earlier page of ${state === 'dead' ? 'dead letters' : `${state} messages`}`;
  return new DelayQueueError('INVALID_ARGUMENT', `cursor: ${problem}`);
}
