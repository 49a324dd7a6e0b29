import { isSetAside, unwrapSetAside, wrapSetAside } from '../message/codec/set-aside-body.js';
import type { MessageBody, MessageContent } from '../message/codec/message-codec.js';
import type { Expiry, OnExpired } from '../message/expiry.js';

/** When the messages of a queue expire that do not say so themselves. */
export type QueueExpiry = Expiry & { readonly onExpired: OnExpired };

/**
 * When a message fell due for the first time, if that matters: it expires, repeats, or was put off. The wrapper of a message that was
 * set aside tells it to the next attempts, whose due times are others.
 */
export interface FirstDue {
  /** ms, by the store's clock. */
  readonly at: number;
  /** Whether the stored body tells it. */
  readonly isStored: boolean;
  /** Whether the next attempts must know it. */
  readonly isNeeded: boolean;
  /** The body without what tells it. */
  readonly body: Buffer;
  /** What the message itself says. */
  readonly expiry: Expiry | undefined;
  /** After this instant it has expired, ms by the store's clock; undefined: it does not expire. */
  readonly deadline: number | undefined;
  readonly onExpired: OnExpired;
}

/** What a message says of itself that depends on its due time. */
type Kept = Pick<MessageContent, 'expiry' | 'repeat'>;

/** A body this long is not wrapped: it may be as long as the server accepts. Its retries expire as if they were the first attempt. */
const LONGEST_WRAPPED = 1024 * 1024 - 100;

/** Whether it matters when a message fell due for the first time. Asked for each message. */
export function mayMatter(stored: Buffer, { expiry, repeat }: Kept, queue: QueueExpiry): boolean {
  return expiry !== undefined || repeat !== undefined || queue.after !== null || isSetAside(stored);
}

export function firstDueOf(
  stored: Buffer,
  {
    dueAt,
    content: { expiry, repeat },
    queue,
  }: { readonly dueAt: number; readonly content: Kept; readonly queue: QueueExpiry },
): FirstDue {
  const isStored = isSetAside(stored);
  const { after, onExpired = queue.onExpired } = expiry ?? queue;
  const { since, body } = unwrapSetAside(stored);
  const at = since ?? dueAt;
  const deadline = after === null ? undefined : at + after;
  const isNeeded = deadline !== undefined || repeat !== undefined;
  return { at, isStored, isNeeded, body, expiry, deadline, onExpired };
}

/** The body that a message has to get when it is delayed for another attempt; undefined: the one that it has. */
export function bodyOfRetry({ at, isStored, isNeeded, body }: FirstDue): MessageBody | undefined {
  if (isStored || !isNeeded || body.length > LONGEST_WRAPPED) return undefined;
  return wrapSetAside(body, at);
}
