import { DelayQueueError } from '../message/delay-queue-errors.js';
import { dateOf } from '../message/duration.js';
import { type Calendar, PAUSED_UNTIL, type RepeatProgress, type RepeatRule } from '../message/repeat-rule.js';

/** Computes the times of rules. */
export class RuleTimes {
  constructor(private readonly calendar: Calendar | undefined) {}

  /**
   * Returns a rule's first time after an instant, ms; null if there is none. The times of an interval have a fixed phase, so processes
   * that compute them agree, and none of them drifts.
   * @throws DelayQueueError `INVALID_ARGUMENT` if the calendar cannot read the rule, `INVALID_OPTION` if it needs a calendar
   */
  nextAfter(rule: RepeatRule, instant: number): number | null {
    const { cron, timeZone = 'UTC', every, startsAt, endsAt } = rule;
    const after = startsAt ? Math.max(instant, startsAt.getTime() - 1) : instant;
    const next = every === undefined ? this.#nextOf(cron!, timeZone, after) : nextOfInterval(every, startsAt, after);
    return next === null || next > (endsAt?.getTime() ?? PAUSED_UNTIL - 1) ? null : next;
  }

  /** Returns at most `most` of a rule's times after an instant, ms; fewer if the rule has no more. */
  list(rule: RepeatProgress, instant: number, most: number): Date[] {
    const times: Date[] = [];
    const left = Math.min(most, (rule.limit ?? Infinity) - (rule.count ?? 0));
    for (let last: number | null = instant; times.length < left;) {
      last = this.nextAfter(rule, last);
      if (last === null) break;
      times.push(dateOf(last));
    }
    return times;
  }

  #nextOf(cron: string, timeZone: string, after: number): number | null {
    if (this.calendar) return this.calendar.next({ cron, timeZone }, new Date(after))?.getTime() ?? null;
    const advice = "give forRoot({ calendar }) the one of 'nestjs-delay-queue/calendar', or use every";
    throw new DelayQueueError('INVALID_OPTION', `calendar: a rule with cron needs one: ${advice}`);
  }
}

function nextOfInterval(every: number, startsAt: Date | undefined, after: number): number {
  const phase = startsAt?.getTime() ?? 0;
  return phase + (Math.floor((after - phase) / every) + 1) * every;
}
