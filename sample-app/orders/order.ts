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
  /** How late its message was when it cancelled the order, ms; null unless it did. */
  readonly lateBy: number | null;
  /** Whether that message had to wait because the queue was paused. */
  readonly heldUp: boolean;
  /** How many attempts at its message have failed. */
  readonly failedAttempts: number;
  /** The batch it was placed with; null if it was placed alone. */
  readonly batch: string | null;
  /** Whether lists show it; of a batch, only a few orders are. */
  readonly listed: boolean;
}

/** How an order ends, once and for all. */
export type OrderOutcome = 'paid' | 'cancelled';
