import type { Duration } from '../message/duration.js';

/** The copies for which a writing call of the producer waits before its promise resolves. Without them, it fails with `NOT_REPLICATED`. */
export interface AcknowledgeOptions {
  /** How many replicas have it. 1–100, and 0 with `fsync`. @defaultValue `1` */
  readonly replicas?: number | undefined;
  /** For how long at most; not longer than `offerTimeout`. 1 ms – 10 min. @defaultValue `'200ms'` */
  readonly within?: Duration | undefined;
  /** Wait until the primary, and those replicas, have it on disk. Needs Redis 7.2 or Valkey with `appendonly yes`. @defaultValue `false` */
  readonly fsync?: boolean | undefined;
}
