/** What would become of the message of `DelayQueueTester.handle()`. */
export type HandleOutcome =
  | {
      /** Handled: the message would be gone. */
      readonly kind: 'ack';
    }
  | {
      /** The handler failed, and has attempts left. */
      readonly kind: 'retry';
      /** The backoff until the next attempt, ms, without jitter. */
      readonly delay: number;
      /** The error that the handler threw. */
      readonly error: unknown;
    }
  | {
      /** The handler ended with a `DeferMessage`. */
      readonly kind: 'defer';
      /** Until the message would come again, ms; absent if it was given a date. */
      readonly delay?: number;
      /** When the message would come again; absent if it was given a delay. */
      readonly at?: Date;
    }
  | {
      /** The handler ended with `again()`. */
      readonly kind: 'again';
      /** Until the message would come again, ms; absent if it was given a date. */
      readonly delay?: number;
      /** When the message would come again; absent if it was given a delay. */
      readonly at?: Date;
      /** The payload that it would have then. */
      readonly payload: unknown;
    }
  | {
      /** A dead letter: the handler ended with a `RejectMessage`, or failed in its last attempt. */
      readonly kind: 'dead';
      /** The error that the handler threw. */
      readonly error: unknown;
    };
