/** A time, ms since the run's epoch. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** True if two periods overlap. */
export function overlap(a: Span, b: Span): boolean {
  return a.from <= b.to && b.from <= a.to;
}

/** A time in which something was wrong; after its end, processes only need to recover. */
export interface FaultWindow extends Span {
  readonly kind: string;
  /** The indexes of the processes that felt it. */
  readonly processes: 'all' | readonly number[];
  /** The exact action, for human readers. */
  readonly detail: string;
  /** True if it may have let leases end. */
  readonly costsLeases: boolean;
  /** True if a message may have fallen behind later ones of its group. */
  readonly disorders?: boolean;
  /** True if a group may have had too many permits. */
  readonly crowds?: boolean;
  /** True if another server may have taken a primary's place. */
  readonly replaces?: boolean;
  /** The time at which Redis acknowledged what it may have forgotten because of this. */
  readonly forgotten?: readonly Span[];
  /** True if the nemesis did it; otherwise it came from the machine. */
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

function isEcho(window: FaultWindow, cause: FaultWindow): boolean {
  const { processes: felt } = window;
  const { processes } = cause;
  const covers = processes === 'all' || (felt !== 'all' && felt.every((process) => processes.includes(process)));
  return covers && overlap(window, cause);
}
