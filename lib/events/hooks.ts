import type { DelayedMessage, MessageHeaders } from '../message/message.js';
import type { HandlingOutcome, OfferContext } from './delay-queue-observer.js';

/** What surrounds offers and the calls of handlers. A hook that nobody uses is absent, so that nothing needs to be prepared. */
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
  /** Makes the result if the hook takes too long, given the owner's name; the work is then never done. Must not throw. */
  readonly onTimeout: (owner: string, timeout: number) => Result | Promise<Result>;
}
