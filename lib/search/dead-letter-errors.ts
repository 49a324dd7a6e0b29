import { type MessageCodec, storedError } from '../message/codec/message-codec.js';
import { dateOf } from '../message/duration.js';
import { readFailure } from '../message/failure.js';
import { type PageQuery, readPage } from '../message/page.js';
import { readFields } from '../message/read-fields.js';
import type { StoredMessage } from '../store/admin-store.js';
import type { WholeQueue } from '../store/whole-queue.js';
import { Examined, PART } from './examined.js';
import { mergeErrors } from './merge-errors.js';
import { frameOf } from './stack-frame.js';

/** The errors of some of a queue's dead letters. */
export interface DeadLetterErrorPage {
  /** The most frequent first. Each stands for the dead letters whose errors have the same name and the same first stack frame. */
  readonly errors: readonly {
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
  }[];
  /** How many dead letters this call has examined. */
  readonly examined: number;
  /** Pass this to examine the next dead letters, whose errors may be the same; null on the last page. */
  readonly cursor: string | null;
  /** The partitions that did not answer, as in {@link QueueCounts}. */
  readonly missing?: readonly number[];
}

type DeadLetterError = DeadLetterErrorPage['errors'][number];

/** @throws DelayQueueError `INVALID_ARGUMENT` for a malformed cursor */
export async function listErrors(
  { store, codec }: { readonly store: WholeQueue; readonly codec: MessageCodec },
  query: Pick<PageQuery, 'cursor'> | undefined,
): Promise<DeadLetterErrorPage> {
  let { cursor } = readPage(query && readFields(query, 'query', ['cursor']));
  const errors: DeadLetterError[] = [];
  const examined = new Examined();
  for (;;) {
    const from = cursor === undefined ? { offset: 0 } : { cursor };
    const page = await store.list({ state: 'dead', from, limit: PART });
    examined.add({ examined: page.messages, missing: page.missing });
    errors.push(...page.messages.map((letter) => errorOf(letter, codec)));
    if (page.cursor === null || examined.isEnough) {
      return { errors: mergeErrors(errors), examined: examined.count, cursor: page.cursor, ...examined.notes };
    }
    cursor = page.cursor;
  }
}

function errorOf({ id, death }: StoredMessage, codec: MessageCodec): DeadLetterError {
  const { name, message, stack } = readFailure(storedError(codec, death!.error));
  const at = dateOf(death!.at);
  return { name, frame: frameOf(stack), message, count: 1, firstAt: at, lastAt: at, example: id };
}
