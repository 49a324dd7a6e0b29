import type { Order, OrderOutcome } from './order.js';

/** An order that is not known to anybody yet. */
export type OrderDraft = Pick<Order, 'id' | 'item' | 'batch' | 'listed'>;

export interface Confirmation {
  readonly id: string;
  readonly dueAt: Date;
}

export interface Settlement {
  readonly order: Order;
  /** Whether this call decided it; false if it was settled before. */
  readonly won: boolean;
}

/** Where the orders are kept. */
export abstract class OrderBook {
  /**
   * Saves orders that nobody sees yet: a draft can be settled, but it is neither found nor listed. One that is not
   * confirmed within the hour vanishes.
   */
  abstract draft(drafts: readonly OrderDraft[]): Promise<void>;

  /** Makes drafts orders. One that is not to be listed still vanishes within the hour. */
  abstract confirm(confirmations: readonly Confirmation[]): Promise<Order[]>;

  /** Forgets a draft. */
  abstract discard(id: string): Promise<void>;

  /**
   * Pays or cancels an order, unless that is decided already: of any number of calls at once, in any number of processes,
   * exactly one wins.
   *
   * @param messageDueAt - when the message was due that has it cancelled
   * @returns null if there is no such order, or if it is a draft still
   */
  abstract settle(id: string, outcome: OrderOutcome, messageDueAt?: Date): Promise<Settlement | null>;

  /**
   * Notes that an attempt at an order's message has failed.
   *
   * @returns null if there is no such order, or if it is a draft still
   */
  abstract noteFailure(id: string, attempt: number): Promise<Order | null>;

  abstract find(id: string): Promise<Order | null>;

  /** The newest orders first, of those that are listed. */
  abstract latest(limit: number): Promise<Order[]>;

  /** How many orders were ever cancelled. */
  abstract cancelled(): Promise<number>;

  /** The time by the clock that `dueAt` is read from. */
  abstract now(): Promise<Date>;
}
