/** A demonstration: a worker is frozen for longer than its lease, and another process takes over its parcels. */
export interface FrozenWorker {
  readonly run: string;
  readonly phase: 'starting' | 'frozen' | 'awake' | 'done' | 'failed';
  /** How many parcels there are. */
  readonly parcels: number;
  /** The process id of the worker; null until it has started. */
  readonly worker: number | null;
  /** The process id of the shop. */
  readonly shop: number;
}
