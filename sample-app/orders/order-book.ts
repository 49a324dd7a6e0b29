import type { Order, OrderOutcome } from './order.js';

/** An order that is not known to anybody yet. */
export type OrderDraft = Pick<Order, 'id' | 'item'>;

export interface Settlement {
  readonly order: Order;
  /** Whether this call decided it; false if it was settled before. */
  readonly won: boolean;
}

/** Where the orders are kept. */
export abstract class OrderBook {
  /**
   * Saves an order that nobody sees yet: a draft can be settled, but it is neither found nor listed. One that is not
   * confirmed within the hour vanishes.
   */
  abstract draft(draft: OrderDraft): Promise<void>;

  /** Makes a draft an order. */
  abstract confirm(id: string, dueAt: Date): Promise<Order>;

  /** Forgets a draft. */
  abstract discard(id: string): Promise<void>;

  /**
   * Pays or cancels an order, unless that is decided already: of any number of calls at once, in any number of processes,
   * exactly one wins.
   *
   * @returns null if there is no such order, or if it is a draft still
   */
  abstract settle(id: string, outcome: OrderOutcome): Promise<Settlement | null>;

  abstract find(id: string): Promise<Order | null>;

  /** The newest orders first. */
  abstract latest(limit: number): Promise<Order[]>;

  /** The time by the clock that `dueAt` is read from. */
  abstract now(): Promise<Date>;
}
