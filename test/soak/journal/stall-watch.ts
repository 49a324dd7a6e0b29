const INTERVAL = 100;

/** A machine with too little to give makes leases end just as a fault does, so it has to be told; ms. */
export const WORTH_TELLING = 500;

/**
 * Tells when this process stood still, whatever the reason.
 *
 * @param now - the clock that the times are told by
 * @param blocked - for how long it was made to stand still so far, ms: that is not told of
 * @returns what ends the watch
 */
export function watchForStalls(
  now: () => number,
  tell: (from: number, to: number) => void,
  blocked: () => number = () => 0,
): () => void {
  let last = now();
  let blockedBefore = blocked();
  const timer = setInterval(() => {
    const at = now();
    if (at - last - (blocked() - blockedBefore) > WORTH_TELLING) tell(last, at);
    last = at;
    blockedBefore = blocked();
  }, INTERVAL).unref();
  return () => clearInterval(timer);
}
