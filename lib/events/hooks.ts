import type { DelayedMessage, MessageHeaders } from '../message/message.js';
import type { HandlingOutcome, OfferContext } from './delay-queue-observer.js';

/** Functions that run around offers and handler calls. A hook that nobody uses is absent, so nothing needs to be prepared for it. */
export interface Hooks {
  readonly offer?: Around<OfferContext, MessageHeaders, unknown> | undefined;
  readonly handle?: Around<DelayedMessage, never, HandlingOutcome> | undefined;
  readonly handleBatch?: Around<readonly DelayedMessage[], never, readonly HandlingOutcome[]> | undefined;
}

/** Runs `work` on a subject inside a hook, which must start it within the limit. */
export type Around<Subject, Argument, Result> = (
  subject: Subject,
  work: (argument?: Argument) => Result | Promise<Result>,
  limit: HookLimit<Result>,
) => Result | Promise<Result>;

/** How long a hook may delay the start of the work. */
export interface HookLimit<Result> {
  /** ms; null: no limit. */
  readonly timeout: number | null;
  /** Returns the result to use if the hook of `owner` takes too long; the work is then never done. Must not throw. */
  readonly onTimeout: (owner: string, timeout: number) => Result | Promise<Result>;
}
