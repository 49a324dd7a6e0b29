/** The outcome of `DelayQueueTester.handle()`: what would become of the message. */
export type HandleOutcome =
  | {
      /** The handler succeeded, so the message would be gone. */
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
      /** The delay until the message would be delivered again, ms; absent if a date was given. */
      readonly delay?: number;
      /** The time at which the message would be delivered again; absent if a delay was given. */
      readonly at?: Date;
    }
  | {
      /** The handler ended with `again()`. */
      readonly kind: 'again';
      /** The delay until the message would be delivered again, ms; absent if a date was given. */
      readonly delay?: number;
      /** The time at which the message would be delivered again; absent if a delay was given. */
      readonly at?: Date;
      /** The payload that the message would then have. */
      readonly payload: unknown;
    }
  | {
      /** The message would become a dead letter: the handler ended with a `RejectMessage`, or failed on its last attempt. */
      readonly kind: 'dead';
      /** The error that the handler threw. */
      readonly error: unknown;
    };
