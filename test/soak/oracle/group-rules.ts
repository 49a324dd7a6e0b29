import type { SoakSettings } from '../soak-settings.js';
import { planMessage } from '../workload/message-plan.js';

/** The promises of a run about groups. */
export interface GroupRules {
  /** The maximum number of messages of a group that are handled at once. */
  readonly concurrency: number;
  /** The queue and the group of a message; null: it has no group. */
  readonly groupOf: (n: number) => string | null;
  /** True for a message that was offered in one call with others, in the order of their numbers. */
  readonly isOneOfMany: (n: number) => boolean;
}

/** @returns undefined if messages have no groups */
export function groupRulesOf(settings: SoakSettings): GroupRules | undefined {
  if (settings.groups === 0) return undefined;
  return {
    concurrency: settings.groups,
    groupOf: (n) => {
      const { queue, group } = planMessage(settings, n);
      return group === null ? null : `${queue} ${group}`;
    },
    isOneOfMany: (n) => planMessage(settings, n).way === 'many',
  };
}
