/** While it was open, something was wrong. */
export interface FaultWindow {
  readonly kind: string;
  /** ms since the run's epoch. */
  readonly from: number;
  /** The same; when nothing of it is left, apart from what processes need to recover. */
  readonly to: number;
  /** The indexes of the processes that felt it. */
  readonly processes: 'all' | readonly number[];
  /** What exactly was done, for people. */
  readonly detail: string;
  /** Done by the nemesis; false: it came from the machine. */
  readonly injected: boolean;
}
