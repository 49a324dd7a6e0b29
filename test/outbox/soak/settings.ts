/** What breaks the outbox on purpose, so that the oracle can be seen to notice. */
export type Control = 'none' | 'ghosts' | 'losses' | 'doubles';

/** What a run is told. */
export interface SoakSettings {
  readonly library: 'pg' | 'mysql2';
  readonly transactions: number;
  readonly writers: number;
  readonly kills: number;
  readonly control: Control;
}

/** What every process of a run is told. */
export interface ProcessSettings extends SoakSettings {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly journal: string;
}

/** After so many ms of quiet, something hangs. */
export const PATIENCE = 120_000;

/** Messages that stay in the queue until the end of the run. */
export const KEPT = 'kept';
/** Messages that are handled during the run. */
export const DUE = 'due';

/** What a message says of itself: the number of the transaction that has offered it. */
export interface SoakPayload {
  readonly n: number;
}

/** What a transaction does to a message; it is the `n`th of the run. */
export interface Step {
  readonly n: number;
  readonly queue: string;
  readonly operation: 'offer' | 'cancel' | 'reschedule';
  /** The id that was given, or that the outbox has made. */
  readonly id: string;
  /** When it is to be due, if that is an instant; ms. */
  readonly at?: number;
}
