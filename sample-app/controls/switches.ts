/** What visitors have switched on or off, for all processes of the shop. */
export interface SwitchStates {
  /** Whether the orders' handler fails. */
  readonly failing: boolean;
  /** Whether the orders' queue is paused. */
  readonly paused: boolean;
  /** When the queue last went on after a pause, ISO 8601; null if it never did. */
  readonly resumedAt: string | null;
}

/** True if a message that is handled now had to wait because the queue was paused. */
export function wasHeldUp({ paused, resumedAt }: SwitchStates, dueAt: Date): boolean {
  return paused || (resumedAt !== null && dueAt.getTime() <= Date.parse(resumedAt));
}

/** Keeps the switches. All are off at first. */
export abstract class Switches {
  abstract read(): Promise<SwitchStates>;

  /** Sets some of them, and returns the resulting state of all. */
  abstract set(states: Partial<SwitchStates>): Promise<SwitchStates>;
}
