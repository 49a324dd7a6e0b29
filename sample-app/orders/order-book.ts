import type { Order, OrderOutcome } from './order.js';

/** An order that nobody knows about yet. */
export type OrderDraft = Pick<Order, 'id' | 'item' | 'batch' | 'listed'>;

export interface Confirmation {
  readonly id: string;
  readonly dueAt: Date;
}

/** The message that cancels an order. */
export interface TimeoutMessage {
  readonly dueAt: Date;
  /** Whether it had to wait because the queue was paused. */
  readonly heldUp: boolean;
}

export interface Settlement {
  readonly order: Order;
  /** Whether this call decided the outcome; false if the order was already settled. */
  readonly won: boolean;
}

/** Where the orders are kept. */
export abstract class OrderBook {
  /**
   * Saves drafts: nobody sees them yet. A draft can be settled, but is neither found nor listed. Unless confirmed, it vanishes
   * within the hour.
   */
  abstract draft(drafts: readonly OrderDraft[]): Promise<void>;

  /** Turns drafts into orders. An unlisted order still vanishes within the hour. */
  abstract confirm(confirmations: readonly Confirmation[]): Promise<Order[]>;

  /** Forgets a draft. */
  abstract discard(id: string): Promise<void>;

  /**
   * Pays or cancels an order, unless that is already decided: of any number of calls at once, in any number of processes,
   * exactly one wins.
   *
   * @returns null if there is no such order, or if it is still a draft
   */
  abstract settle(id: string, outcome: OrderOutcome, message?: TimeoutMessage): Promise<Settlement | null>;

  /**
   * Notes that an attempt at an order's message has failed.
   *
   * @returns null if there is no such order, or if it is still a draft
   */
  abstract noteFailure(id: string, attempt: number): Promise<Order | null>;

  abstract find(id: string): Promise<Order | null>;

  /** The listed orders, newest first. */
  abstract latest(limit: number): Promise<Order[]>;

  /** How many orders have ever been cancelled. */
  abstract cancelled(): Promise<number>;

  /** The time by the clock that `dueAt` follows. */
  abstract now(): Promise<Date>;
}
