/** An observation at one moment. */
export interface Sample {
  /** ms since the run's epoch. */
  readonly at: number;
  /** The memory that all servers use that have keys of their own, bytes. */
  readonly usedMemory: number;
  /** The connections of producers and workers. */
  readonly connections: number;
  /** Messages that are not dead letters. */
  readonly stored: number;
  /** Resident memory of the processes that live through the whole run, bytes, by index. */
  readonly rss: Readonly<Record<number, number>>;
}
