/** What was to be seen at one moment. */
export interface Sample {
  /** ms since the run's epoch. */
  readonly at: number;
  /** Of Redis, bytes. */
  readonly usedMemory: number;
  readonly connectedClients: number;
  /** Messages that are not dead letters. */
  readonly stored: number;
  /** Resident memory of the processes that live through the whole run, bytes, by their index. */
  readonly rss: Readonly<Record<number, number>>;
}
