import type { SoakSettings } from '../soak-settings.js';
import { planMessage } from '../workload/message-plan.js';

/** What a run promises about groups. */
export interface LaneRules {
  /** How many messages of a group may be handled at once. */
  readonly concurrency: number;
  /** The queue and the group of a message; null: it has no group. */
  readonly laneOf: (n: number) => string | null;
  /** Whether a message was offered in one call with others, in the order of their numbers. */
  readonly isOneOfMany: (n: number) => boolean;
}

/** @returns undefined if messages have no groups */
export function laneRulesOf(settings: SoakSettings): LaneRules | undefined {
  if (settings.groups === 0) return undefined;
  return {
    concurrency: settings.groups,
    laneOf: (n) => {
      const { queue, group } = planMessage(settings, n);
      return group === null ? null : `${queue} ${group}`;
    },
    isOneOfMany: (n) => planMessage(settings, n).way === 'many',
  };
}
