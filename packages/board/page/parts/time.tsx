import { useNow } from './clock.js';
import { formatDateTime, formatRelative, formatTime } from './format.js';

interface TimeProps {
  readonly at: string;
  /** What is shown: the time in the viewer's zone, how far it is from now, or both. Default: `both` */
  readonly as?: 'time' | 'relative' | 'both';
}

/** A time, with UTC in its title. */
export function Time({ at, as = 'both' }: TimeProps) {
  const now = useNow();
  const time = Date.parse(at);
  const utc = `${new Date(time).toISOString().replace('T', ' ').replace('Z', '')} UTC`;
  const title = as === 'relative' ? `${formatDateTime(time)} · ${utc}` : utc;
  return (
    <time dateTime={at} title={title}>
      {as !== 'relative' && <span class="at">{formatTime(time, now)}</span>}
      {as === 'both' && ' '}
      {as !== 'time' && <span class="relative">{formatRelative(time, now)}</span>}
    </time>
  );
}
