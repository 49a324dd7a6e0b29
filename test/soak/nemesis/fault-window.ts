/** A time in which something was wrong. */
export interface FaultWindow {
  readonly kind: string;
  /** ms since the run's epoch. */
  readonly from: number;
  /** ms since the run's epoch; from then on, processes only need to recover. */
  readonly to: number;
  /** The indexes of the processes that felt it. */
  readonly processes: 'all' | readonly number[];
  /** What exactly was done, for human readers. */
  readonly detail: string;
  /** Whether it may have let leases end. */
  readonly costsLeases: boolean;
  /** Whether Redis may have forgotten what it had acknowledged before. */
  readonly forgets?: boolean;
  /** Whether the nemesis did it; otherwise it came from the machine. */
  readonly injected: boolean;
}

/**
 * Leaves out stalls that the nemesis caused: a frozen process reports a stall as well. This is for human readers; the
 * oracle takes every stall into account.
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
