import type { RuleView } from '../../src/api.js';

/** The name of an instance as people read it: the unnamed one is `-` in addresses. */
export function instanceLabel(name: string): string {
  return name === '-' ? 'default' : name;
}

/** A rule in one line. */
export function ruleText({ cron, timeZone, missed }: RuleView): string {
  return `${cron} (${timeZone}); missed times are ${missed === 'once' ? 'made up for once' : 'skipped'}`;
}
