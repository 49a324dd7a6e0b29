const INTERVAL = 100;

/** The shortest stall worth reporting, ms: an overloaded machine makes leases end just as a fault does. */
export const MIN_REPORTED = 500;

/**
 * Reports when this process stalls, whatever the reason.
 *
 * @param now - the clock for the reported times
 * @param blocked - for how long the process has blocked itself so far, ms; that is not reported
 * @returns a function that ends the watch
 */
export function watchForStalls(
  now: () => number,
  report: (from: number, to: number) => void,
  blocked: () => number = () => 0,
): () => void {
  let last = now();
  let blockedBefore = blocked();
  const timer = setInterval(() => {
    const at = now();
    if (at - last - (blocked() - blockedBefore) > MIN_REPORTED) report(last, at);
    last = at;
    blockedBefore = blocked();
  }, INTERVAL).unref();
  return () => clearInterval(timer);
}
