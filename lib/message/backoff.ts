/** A backoff that calls no function of the application. Durations are in milliseconds. */
export type ComputedBackoff =
  | { readonly type: 'fixed'; readonly delay: number; readonly jitter: number }
  | {
      readonly type: 'exponential';
      readonly delay: number;
      readonly factor: number;
      readonly maxDelay: number;
      readonly jitter: number;
    };

export const DEFAULT_BACKOFF = {
  type: 'exponential',
  delay: 1000,
  factor: 2,
  maxDelay: 3_600_000,
  jitter: 0.2,
} as const satisfies ComputedBackoff;
