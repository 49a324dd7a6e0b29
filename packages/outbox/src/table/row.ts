import type { StoredBackoff } from 'nestjs-delay-queue';

/** Versions that do not know the last two leave such rows, and later ones for the same messages, to others. */
export type Operation = 'offer' | 'cancel' | 'reschedule' | 'offer-encrypted' | 'change-encrypted';

export interface NewRow {
  readonly operation: Operation;
  readonly queue: string;
  readonly messageId: string;
  /** JSON: see {@link RowBody}. */
  readonly body: string;
  /** The due time of the message: this many ms after the row was written, or an instant; neither for a cancel. */
  readonly due: { readonly after: number } | { readonly at: number } | undefined;
}

/** The content of a row's message. */
export interface RowBody {
  readonly type?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly onDuplicate?: 'keep' | 'replace' | undefined;
  readonly group?: string | undefined;
  /** ms */
  readonly expiresAfter?: number | 'never' | undefined;
  readonly onExpired?: 'drop' | 'dead' | undefined;
  readonly attempts?: number | undefined;
  readonly backoff?: StoredBackoff | undefined;
  /** ms */
  readonly maxWait?: number | undefined;
  readonly payload?: unknown;
  /** A payload of bytes. */
  readonly base64?: string | undefined;
  /** The payload and headers of an offer, or what a reschedule changes of them, as JSON has an `EncryptedPayload`. */
  readonly encrypted?: { readonly encryptedWith: string; readonly base64: string } | undefined;
}

/** A row that a relay has taken. */
export interface TakenRow {
  readonly seq: number;
  readonly operation: string;
  readonly queue: string;
  readonly messageId: string;
  readonly body: string;
  readonly delay: number | null;
  readonly dueAt: number | null;
  /** How long ago it was written, ms by the clock of the database. */
  readonly waited: number;
  readonly attempts: number;
}

/** A row that could not be relayed. */
export interface FailedRow {
  readonly row: TakenRow;
  readonly error: string;
  /** The part of the error that is the same for all rows that fail for this reason. */
  readonly code: string;
  /** Milliseconds; undefined: never again by itself. */
  readonly retryAfter: number | undefined;
}
