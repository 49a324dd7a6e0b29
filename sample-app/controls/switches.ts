/** What visitors have switched on or off, for all processes of the shop. */
export interface SwitchStates {
  /** Whether the orders' handler fails. */
  readonly failing: boolean;
  /** Whether the orders' queue is paused. */
  readonly paused: boolean;
}

/** Keeps the switches. All are off at first. */
export abstract class Switches {
  abstract read(): Promise<SwitchStates>;

  /** Sets some of them, and returns the resulting state of all. */
  abstract set(states: Partial<SwitchStates>): Promise<SwitchStates>;
}
