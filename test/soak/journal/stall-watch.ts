const INTERVAL = 100;

/** A machine with too little to give makes leases end just as a fault does, so it has to be told; ms. */
export const WORTH_TELLING = 500;

/**
 * Tells when this process stood still, whatever the reason.
 *
 * @param now - the clock that the times are told by
 * @returns what ends the watch
 */
export function watchForStalls(now: () => number, tell: (from: number, to: number) => void): () => void {
  let last = now();
  const timer = setInterval(() => {
    const at = now();
    if (at - last > WORTH_TELLING) tell(last, at);
    last = at;
  }, INTERVAL).unref();
  return () => clearInterval(timer);
}
