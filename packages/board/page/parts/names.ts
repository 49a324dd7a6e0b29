import type { BackoffView, MessageRow, RuleView } from '../../src/api.js';
import { formatDuration } from './format.js';

/** The name of an instance as people read it: the unnamed one is `-` in addresses. */
export function instanceLabel(name: string): string {
  return name === '-' ? 'default' : name;
}

/** A rule in one line. */
export function ruleText({ cron, timeZone, missed }: RuleView): string {
  return `${cron} (${timeZone}); missed times are ${missed === 'once' ? 'made up for once' : 'skipped'}`;
}

/** The number of failed attempts; `2 of 3` if the message has its own attempts. */
export function attemptsText({ failedAttempts, attempts }: Pick<MessageRow, 'failedAttempts' | 'attempts'>): string {
  return attempts === undefined ? String(failedAttempts) : `${failedAttempts} of ${attempts}`;
}

/** A backoff in one line. */
export function backoffText(backoff: BackoffView): string {
  const jitter = backoff.jitter > 0 ? `, ± ${Math.round(backoff.jitter * 100)} %` : '';
  const delay = formatDuration(backoff.delay);
  if (backoff.type === 'fixed') return `${delay}${jitter}`;
  return `${delay} × ${backoff.factor} after each attempt, up to ${formatDuration(backoff.maxDelay)}${jitter}`;
}
