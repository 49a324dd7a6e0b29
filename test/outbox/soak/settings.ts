/** Deliberate faults of the outbox, which show that the oracle finds them. */
export type Control = 'none' | 'ghosts' | 'losses' | 'doubles';

/** The settings of a run. */
export interface SoakSettings {
  readonly library: 'pg' | 'mysql2';
  readonly transactions: number;
  readonly writers: number;
  readonly kills: number;
  readonly control: Control;
}

/** The settings of every process of a run. */
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

/** The payload of a message: the number of the transaction that has offered it. */
export interface SoakPayload {
  readonly n: number;
}

/** The operation of a transaction on a message; it is the `n`th of the run. */
export interface Step {
  readonly n: number;
  readonly queue: string;
  readonly operation: 'offer' | 'cancel' | 'reschedule';
  /** The id that was given, or that the outbox has made. */
  readonly id: string;
  /** The due time of the message, if it is an instant; ms. */
  readonly at?: number;
}
