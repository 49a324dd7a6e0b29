import type { BackoffView, HandledRow, MessageRow, RuleView } from '../../src/api.js';
import { formatDateTime, formatDuration, formatMeasured } from './format.js';

/** The name of an instance as people read it: the unnamed one is `-` in addresses. */
export function instanceLabel(name: string): string {
  return name === '-' ? 'default' : name;
}

const MISSED = { once: 'made up for once', skip: 'skipped', each: 'made up for one by one' } as const;

/** A rule in one line. */
export function ruleText(rule: RuleView): string {
  const { cron, timeZone, every, missed, catchUp, startsAt, endsAt, limit, count, isPaused } = rule;
  const bounds = [
    ...(startsAt === undefined ? [] : [`from ${formatDateTime(Date.parse(startsAt))}`]),
    ...(endsAt === undefined ? [] : [`until ${formatDateTime(Date.parse(endsAt))}`]),
    ...(limit === undefined ? [] : [`${count ?? 0} of ${limit} times`]),
  ];
  const times = cron === undefined ? `every ${formatDuration(every!)}` : `${cron} (${timeZone})`;
  const late = catchUp === undefined ? '' : ` for ${formatDuration(catchUp)}`;
  const parts = [[times, ...bounds].join(', '), `missed times are ${MISSED[missed]}${late}`];
  return [...parts, ...(isPaused ? ['paused'] : [])].join('; ');
}

/** The number of failed attempts; `2 of 3` if the message has its own attempts. */
export function attemptsText({ failedAttempts, attempts }: Pick<MessageRow, 'failedAttempts' | 'attempts'>): string {
  return attempts === undefined ? String(failedAttempts) : `${failedAttempts} of ${attempts}`;
}

/** How a message was handled, in one line. */
export function handlingText({ took, lateness, attempt, worker }: HandledRow): string {
  const late = `started ${formatMeasured(lateness)} late`;
  return `took ${formatMeasured(took)}, ${late}, attempt ${attempt}, on ${worker.host}, process ${worker.pid}`;
}

/** A backoff in one line. */
export function backoffText(backoff: BackoffView): string {
  const jitter = backoff.jitter > 0 ? `, ± ${Math.round(backoff.jitter * 100)} %` : '';
  const delay = formatDuration(backoff.delay);
  if (backoff.type === 'fixed') return `${delay}${jitter}`;
  return `${delay} × ${backoff.factor} after each attempt, up to ${formatDuration(backoff.maxDelay)}${jitter}`;
}
