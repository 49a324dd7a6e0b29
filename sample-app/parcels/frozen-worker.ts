/** A demonstration: a worker is frozen for longer than its lease, and another process takes its parcels over. */
export interface FrozenWorker {
  readonly run: string;
  readonly phase: 'starting' | 'frozen' | 'awake' | 'done' | 'failed';
  /** How many parcels there are. */
  readonly parcels: number;
  /** The process of the worker; null until it has started. */
  readonly worker: number | null;
  /** The process of the shop. */
  readonly shop: number;
}
