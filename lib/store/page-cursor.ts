import { DelayQueueError } from '../message/delay-queue-errors.js';
import type { ListedState } from './admin-store.js';

/** Maximum total size of the bodies in a page, bytes. A single larger body is still listed. */
export const PAGE_BYTES = 1_048_576;

/** The place of a message within its state. Each store decides how to express it. */
export interface Place {
  /** The score or position; empty if the place has none. */
  readonly at: string;
  readonly name: string;
}

/** A score, as printed by Redis. */
const NUMBER = /^-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|inf)$/;
const POSITION = /^-?\d{1,15}$/;

/** Checks the form of a place in each state. */
const FORMS: Readonly<Record<ListedState, (place: Place) => boolean>> = {
  delayed: ({ at }) => NUMBER.test(at),
  ready: ({ at }) => POSITION.test(at),
  active: ({ at, name }) => at === '' && name.includes('\n'),
  dead: ({ at }) => NUMBER.test(at),
  handled: ({ at }) => NUMBER.test(at),
};

/** @param place - `at` and `name`, separated by a colon */
export function formatCursor(state: ListedState, place: string): string {
  return `${state}:${place}`;
}

/** Reads a cursor written by {@link formatCursor}. @throws DelayQueueError `INVALID_ARGUMENT` */
export function parseCursor(state: ListedState, cursor: string): Place {
  const [, of, at = '', name = ''] = /^(\w+):([^:]*):(.+)$/s.exec(cursor) ?? [];
  const place = { at, name };
  if (of === state && FORMS[state](place)) return place;
  throw wrongCursor(state);
}

/** Returns the error for a value that is not a cursor of this state. */
export function wrongCursor(state: ListedState): DelayQueueError {
  const problem = `must be the \`cursor\` of an earlier page of ${state === 'dead' ? 'dead letters' : `${state} messages`}`;
  return new DelayQueueError('INVALID_ARGUMENT', `cursor: ${problem}`);
}
