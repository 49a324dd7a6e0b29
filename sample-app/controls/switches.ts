/** What a visitor has switched, for all processes of the shop. */
export interface SwitchStates {
  /** Whether the handler of the orders fails. */
  readonly failing: boolean;
  /** Whether the orders' queue is paused. */
  readonly paused: boolean;
}

/** Where the switches are kept. All are off at first. */
export abstract class Switches {
  abstract read(): Promise<SwitchStates>;

  /** Sets some of them, and tells how all of them are then. */
  abstract set(states: Partial<SwitchStates>): Promise<SwitchStates>;
}
