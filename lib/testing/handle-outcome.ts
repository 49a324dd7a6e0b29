/** What would become of a message whose handler was called by `DelayQueueTester.handle()`. */
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
      /** What the handler threw. */
      readonly error: unknown;
    }
  | {
      /** The handler threw a `DeferMessage`. */
      readonly kind: 'defer';
      /** Until the message would come again, ms. */
      readonly delay: number;
    }
  | {
      /** The handler returned `again()`. */
      readonly kind: 'again';
      /** Until the message would come again, ms. */
      readonly delay: number;
      /** What it would carry then. */
      readonly payload: unknown;
    }
  | {
      /** A dead letter: the handler threw a `RejectMessage`, or failed in its last attempt. */
      readonly kind: 'dead';
      /** What the handler threw. */
      readonly error: unknown;
    };
