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
  /** Whether it may have made leases end. */
  readonly costsLeases: boolean;
  /** Whether Redis may have forgotten what it had acknowledged until then. */
  readonly forgets?: boolean;
  /** Done by the nemesis; false: it came from the machine. */
  readonly injected: boolean;
}

/**
 * Leaves out what the machine seemed to do but the nemesis did: a process that was held still tells of a stall, too.
 * For people; when it comes to blame, the whole of a stall counts.
 */
export function withoutEchoes(windows: readonly FaultWindow[]): FaultWindow[] {
  const injected = windows.filter((window) => window.injected);
  return windows.filter((window) => window.injected || !injected.some((cause) => isEcho(window, cause)));
}

function isEcho(window: FaultWindow, { processes, from, to }: FaultWindow): boolean {
  const felt = window.processes;
  const covers = processes === 'all' || (felt !== 'all' && felt.every((process) => processes.includes(process)));
  return covers && from <= window.to && to >= window.from;
}
