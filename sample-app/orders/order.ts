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
}

/** What an order comes to, once and for good. */
export type OrderOutcome = 'paid' | 'cancelled';
