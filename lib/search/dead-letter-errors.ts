import { dateOf } from '../message/duration.js';
import { readFailure } from '../message/failure.js';
import { type PageQuery, readPage } from '../message/page.js';
import { readFields } from '../message/read-fields.js';
import type { StoredMessage } from '../store/admin-store.js';
import type { WholeQueue } from '../store/whole-queue.js';
import { Examined, PART } from './examined.js';
import { frameOf } from './stack-frame.js';

/** Dead letters whose errors have the same name and the same first stack frame. */
export interface DeadLetterError {
  readonly name: string;
  /** The first frame of the stack, without the column, such as `Mailer.send (/app/mailer.js:12)`; empty if there is none. */
  readonly frame: string;
  /** The message of the latest error. */
  readonly message: string;
  readonly count: number;
  /** When the first of these messages died. */
  readonly firstAt: Date;
  /** When the latest of these messages died. */
  readonly lastAt: Date;
  /** The id of the latest of these messages. */
  readonly example: string;
}

/** The errors of some of a queue's dead letters. */
export interface DeadLetterErrorPage {
  /** The most frequent first. */
  readonly errors: readonly DeadLetterError[];
  /** How many dead letters this call has examined. */
  readonly examined: number;
  /** Pass this to examine the next dead letters, whose errors may be the same; null on the last page. */
  readonly cursor: string | null;
  /** The partitions that did not answer, as in {@link QueueCounts}. */
  readonly missing?: readonly number[];
}

/** @throws DelayQueueError `INVALID_ARGUMENT` for a malformed cursor */
export async function listErrors(
  store: WholeQueue,
  query: Pick<PageQuery, 'cursor'> | undefined,
): Promise<DeadLetterErrorPage> {
  let { cursor } = readPage(query && readFields(query, 'query', ['cursor']));
  const errors = new Map<string, DeadLetterError>();
  const examined = new Examined();
  for (;;) {
    const from = cursor === undefined ? { offset: 0 } : { cursor };
    const page = await store.list({ state: 'dead', from, limit: PART });
    examined.add(page.messages, page.missing);
    for (const letter of page.messages) add(errors, letter);
    if (page.cursor === null || examined.isEnough) {
      const sorted = [...errors.values()].sort((one, other) => other.count - one.count);
      return { errors: sorted, examined: examined.count, cursor: page.cursor, ...examined.missing };
    }
    cursor = page.cursor;
  }
}

/** Adds a dead letter, which has died after those before it. */
function add(errors: Map<string, DeadLetterError>, { id, death }: StoredMessage): void {
  const { name, message, stack } = readFailure(death!.error);
  const frame = frameOf(stack);
  // A frame has no line feed, so no other pair has this key.
  const key = `${frame}\n${name}`;
  const lastAt = dateOf(death!.at);
  const { count = 0, firstAt = lastAt } = errors.get(key) ?? {};
  errors.set(key, { name, frame, message, count: count + 1, firstAt, lastAt, example: id });
}
