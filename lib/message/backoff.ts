/** A backoff that calls no function of the application, with its defaults. Durations are in milliseconds. */
export type ComputedBackoff =
  | {
      /** The same wait before every attempt. */
      readonly type: 'fixed';
      /** ms */
      readonly delay: number;
      /** The share of the wait by which it varies at random. */
      readonly jitter: number;
    }
  | {
      /** A wait that grows with each failed attempt. */
      readonly type: 'exponential';
      /** The wait after the first failed attempt, ms. */
      readonly delay: number;
      readonly factor: number;
      /** ms */
      readonly maxDelay: number;
      /** The share of the wait by which it varies at random. */
      readonly jitter: number;
    };

export const DEFAULT_BACKOFF = {
  type: 'exponential',
  delay: 1000,
  factor: 2,
  maxDelay: 3_600_000,
  jitter: 0.2,
} as const satisfies ComputedBackoff;
