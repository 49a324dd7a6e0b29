const COUNT = new Intl.NumberFormat('en');
const DATE_TIME = new Intl.DateTimeFormat('en-GB', {
  ...{ day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' },
});
const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

export function formatCount(count: number): string {
  return COUNT.format(count);
}

/** Formats a number with its noun: `1 message`, `2,000 messages`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** Formats a date and time in the viewer's zone, with the date left out if it is today. */
export function formatTime(time: number, now: number): string {
  const isToday = new Date(time).toDateString() === new Date(now).toDateString();
  return (isToday ? TIME : DATE_TIME).format(time);
}

/** Formats a date and time in full: in a named zone, or in the viewer's. */
export function formatDateTime(time: number, timeZone?: string): string {
  if (timeZone === undefined) return DATE_TIME.format(time);
  try {
    return new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(time);
  } catch {
    return `${new Date(time).toISOString()} (this browser does not know the zone)`;
  }
}

/** Formats a length of time by its two largest units: `2 h 5 min`, `350 ms`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const first = UNITS.findIndex(([, size]) => ms >= size);
  const [unit, size] = UNITS[first]!;
  const whole = Math.floor(ms / size);
  const next = UNITS[first + 1];
  const rest = next ? Math.floor((ms % size) / next[1]) : 0;
  // A number of days says enough without hours from ten days on.
  if (!next || rest === 0 || (unit === 'd' && whole >= 10)) return `${formatCount(whole)} ${unit}`;
  return `${formatCount(whole)} ${unit} ${rest} ${next[0]}`;
}

/** Formats a time relative to now: `in 3 min 12 s`, `5 s ago`. */
export function formatRelative(time: number, now: number): string {
  const distance = time - now;
  if (Math.abs(distance) < 1000) return 'now';
  return distance > 0 ? `in ${formatDuration(distance)}` : `${formatDuration(-distance)} ago`;
}

export function formatBytes(size: number): string {
  if (size < 1024) return countOf(size, 'byte');
  const isLarge = size >= 1024 * 1024;
  return `${(size / (isLarge ? 1024 * 1024 : 1024)).toFixed(1)} ${isLarge ? 'MiB' : 'KiB'}`;
}

/** Formats a measured time: `4 ms`, `1.5 s`, `2 min 5 s`. */
export function formatMeasured(ms: number): string {
  return ms >= 1000 && ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : formatDuration(ms);
}
