/** An order as the shop, its pages and its API know it. Instants are ISO 8601. */
export interface Order {
  readonly id: string;
  readonly item: string;
  readonly status: 'unpaid' | OrderOutcome;
  readonly placedAt: string;
  /** When it is cancelled unless it is paid. */
  readonly dueAt: string;
  /** When it was paid or cancelled. */
  readonly settledAt: string | null;
  /** How long after its message was due it was cancelled, ms; null unless it was. */
  readonly lateBy: number | null;
  /** How many attempts at its message have failed. */
  readonly failedAttempts: number;
  /** The batch it was placed with; null: by itself. */
  readonly batch: string | null;
  /** Whether lists show it: of a batch, only some. */
  readonly listed: boolean;
}

/** What an order comes to, once and for good. */
export type OrderOutcome = 'paid' | 'cancelled';
