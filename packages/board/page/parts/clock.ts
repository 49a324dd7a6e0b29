import { useEffect, useState } from 'preact/hooks';

/** How far Redis' clock is ahead of this one, in ms. */
let ahead = 0;

/** Learns the time by Redis' clock from an answer that carries it as `now`. */
export function setServerTime(answer: unknown): void {
  if (typeof answer !== 'object' || answer === null || !('now' in answer)) return;
  const now = Date.parse(String(answer.now));
  // Less than a second may be the way of the answer, and would make countdowns jump.
  if (!Number.isNaN(now)) ahead = Math.abs(now - Date.now()) < 1000 ? 0 : now - Date.now();
}

/** The time by Redis' clock, in ms since 1970. */
export function serverNow(): number {
  return Date.now() + ahead;
}

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Returns the time by Redis' clock, and renders again every second. All users share one timer. */
export function useNow(): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    const update = () => setNow(serverNow());
    listeners.add(update);
    timer ??= setInterval(() => listeners.forEach((listener) => listener()), 1000);
    return () => {
      listeners.delete(update);
      if (listeners.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, []);
  return now;
}
